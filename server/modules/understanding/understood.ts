import type { Named } from './names.ts'

/** What the things of a house are called. Hand in the same arrays as long as they are unchanged: what is learnt of them is kept with them. */
export interface UnderstandingNames {
  people: readonly (Named & { id: string })[]
  lists: readonly string[]
  timers: readonly string[]
  songs: readonly (Named & { id: string })[]
  playlists: readonly (Named & { id: string })[]
  plugs: readonly (Named & { id: string })[]
  boxes: readonly (Named & { id: string })[]
  cameras: readonly (Named & { id: string })[]
  areas: readonly string[]
}

export interface UnderstandingContext {
  locale: string
  /** IANA name of the household's zone. */
  timezone: string
  now: Date
  names: UnderstandingNames
  speaker?: { id: string; name: string }
}

/** A sentence understood from its first word to its last. */
export interface Understood {
  /** As the language's data names it. */
  intent: string
  slots: Record<string, unknown>
  language: string
  /** It may be about something else, such as general knowledge: let a model answer where the house knows nothing. */
  maybe: boolean
}
