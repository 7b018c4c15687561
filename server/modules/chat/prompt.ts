import { readFile, stat } from 'node:fs/promises'
import type { Household, Person } from '../household/household.contract.ts'
import type { LlmMessage } from '../models/llm.ts'

const MAX_SOUL = 32_000

/**
 * The personality: `soul.md` of the data root, else the one Hearth comes with. Read again when the file has changed;
 * `paths` are tried in order.
 */
export function createSoul(paths: string[]): () => Promise<string> {
  const known = new Map<string, { mtimeMs: number; text: string }>()
  return async () => {
    for (const path of paths) {
      try {
        const { mtimeMs } = await stat(path)
        const seen = known.get(path)
        if (seen?.mtimeMs === mtimeMs) return seen.text
        const text = (await readFile(path, 'utf8')).slice(0, MAX_SOUL).trim()
        known.set(path, { mtimeMs, text })
        return text
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
      }
    }
    return ''
  }
}

function describePerson({ displayName, role, pronouns, aliases }: Person): string {
  const notes = [role === 'other' ? '' : role, pronouns, aliases.length > 0 ? `also called ${aliases.join(', ')}` : ''].filter(Boolean)
  return notes.length > 0 ? `${displayName} (${notes.join('; ')})` : displayName
}

export interface PromptContext {
  soul: string
  household: Household
  persons: Person[]
  /** Who is talking, or null on a shared device. */
  speaker: Person | null
}

/** The system message. Nothing in it changes between turns, so that the model keeps what it evaluated of it. */
export function systemMessage({ soul, household, persons, speaker }: PromptContext): LlmMessage {
  const people = persons.map(describePerson).join(', ')
  const content = [
    soul,
    `The household is called ${household.displayName}. Its people: ${people}. Its language is ${household.locale}.`,
    speaker ? `You are talking with ${speaker.displayName}.` : 'You are talking on a device that the household shares.',
  ]
  return { role: 'system', content: content.filter(Boolean).join('\n\n') }
}

export interface Said {
  role: 'user' | 'assistant' | 'tool'
  content: string
  createdAt: string
}

/**
 * The conversation as the model reads it. Each of a person's messages ends with the moment it was said, in the
 * household's zone: the newest says what the time is, and since none of them ever changes the evaluated prefix stays good.
 */
export function history(said: Said[], { timezone, locale }: Household): LlmMessage[] {
  const moment = new Intl.DateTimeFormat(locale, { timeZone: timezone, dateStyle: 'full', timeStyle: 'short' })
  return said
    .filter(({ role, content }) => role !== 'tool' && content !== '')
    .map(({ role, content, createdAt }) =>
      role === 'user' ? { role: 'user', content: `${content}\n\n(${moment.format(new Date(createdAt))})` } : { role: 'assistant', content },
    )
}
