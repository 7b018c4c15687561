import { join } from 'node:path'
import { languagesIn } from '../../server/modules/understanding/language.ts'
import { createUnderstanding } from '../../server/modules/understanding/understanding.ts'
import type { UnderstandingContext, UnderstandingNames } from '../../server/modules/understanding/understood.ts'

export const languages = languagesIn(join(import.meta.dirname, '..', '..', 'resources', 'understanding'))
export const understanding = createUnderstanding({ languages })

/** The things of a made-up house in which the sentences are said. */
export const names: UnderstandingNames = {
  people: [
    { id: 'ines', name: 'Ines' },
    { id: 'oskar', name: 'Oskar', aliases: ['Ossi'] },
    { id: 'maja', name: 'Maja' },
  ],
  lists: ['Groceries', 'Camping', 'Chores'],
  timers: ['egg'],
  songs: [{ id: 's1', name: 'Golden Autumn' }],
  playlists: [{ id: 'p1', name: 'Sunday Breakfast' }],
  plugs: [
    { id: 'desk', name: 'Desk lamp' },
    { id: 'fairy', name: 'Fairy lights' },
    { id: 'coffee', name: 'Coffee maker' },
  ],
  boxes: [
    { id: 'kitchen', name: 'Kitchen box' },
    { id: 'bedroom', name: 'Bedroom radio' },
  ],
  cameras: [
    { id: 'drive', name: 'Driveway' },
    { id: 'garden', name: 'Back garden' },
  ],
  areas: ['Kitchen', 'Bedroom', 'Living room'],
}

/** A Saturday in November, half past eleven in Berlin. */
export const context: UnderstandingContext = {
  locale: 'en-GB',
  timezone: 'Europe/Berlin',
  now: new Date('2026-11-21T10:30:00Z'),
  names,
  speaker: { id: 'ines', name: 'Ines' },
}

export const understand = (text: string, changes: Partial<UnderstandingContext> = {}) =>
  understanding.understand(text, { ...context, ...changes })
