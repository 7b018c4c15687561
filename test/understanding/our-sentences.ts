import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { understand } from './house.ts'

const Sentences = z.array(
  z.object({
    say: z.string(),
    /** Null where nothing may be understood for certain. */
    intent: z.string().nullable(),
    maybe: z.boolean().optional(),
    slots: z.record(z.string(), z.unknown()).optional(),
  }),
)

export const sentences = Sentences.parse(JSON.parse(readFileSync(join(import.meta.dirname, 'sentences.json'), 'utf8')))

/** What is not understood as it should be, a line each. */
export function misses(): string[] {
  return sentences.flatMap(({ say, intent, maybe = false, slots = {} }) => {
    const understood = understand(say)
    if (intent === null) return understood && !understood.maybe ? [`${say}: taken for ${understood.intent}`] : []
    if (understood?.intent !== intent || understood.maybe !== maybe)
      return [`${say}: ${understood?.intent ?? 'not understood'}, not ${intent}`]
    const wrong = Object.entries(slots).filter(([slot, value]) => JSON.stringify(understood.slots[slot]) !== JSON.stringify(value))
    return wrong.map(([slot]) => `${say}: ${slot} is ${JSON.stringify(understood.slots[slot])}`)
  })
}
