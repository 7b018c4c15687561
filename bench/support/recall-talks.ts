import { existsSync, readFileSync } from 'node:fs'
import { z } from 'zod'

const Talks = z.array(
  z.object({
    conversation: z.union([z.string(), z.number()]).transform(String),
    turns: z.array(z.object({ id: z.string(), date: z.string(), speaker: z.string(), text: z.string() })),
    qa: z.array(z.object({ question: z.string(), evidence: z.array(z.string()) })),
  }),
)

export interface Talk {
  name: string
  turns: { id: string; speaker: string; text: string; session: string; observedAt: string }[]
  questions: { question: string; evidence: Set<string> }[]
}

/** `1:56 pm on 8 May, 2023` as an instant, read as UTC. */
function instantOf(date: string): string {
  const [, hour, minute, half, day, month, year] = /^(\d+):(\d+) (am|pm) on (\d+) (\w+), (\d+)$/.exec(date) ?? []
  const at = new Date(`${day} ${month} ${year} ${hour}:${minute} ${half} UTC`)
  if (Number.isNaN(at.getTime())) throw new Error(`No date that can be read: ${date}`)
  return at.toISOString()
}

/** The conversations of a file in LoCoMo's shape (turns with ids `D<session>:<turn>`); null where there is no such file. */
export function readTalks(path: string | undefined): Talk[] | null {
  if (!path || !existsSync(path)) return null
  return Talks.parse(JSON.parse(readFileSync(path, 'utf8'))).map(({ conversation, turns, qa }) => ({
    name: conversation,
    turns: turns.map(({ id, date, speaker, text }) => ({
      id,
      speaker,
      text,
      session: `session ${id.split(':')[0]?.slice(1)}`,
      observedAt: instantOf(date),
    })),
    questions: qa.map(({ question, evidence }) => ({ question, evidence: new Set(evidence) })),
  }))
}
