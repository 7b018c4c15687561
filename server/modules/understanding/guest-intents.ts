import { SMALL_TALK } from './small-talk.ts'
import type { Understood } from './understood.ts'

/**
 * What guests may ask for: what needs no knowledge of the house, and what they may do with media. Beside small talk, what is new is not for
 * guests until it stands here. Of people they know themselves alone.
 */
const FOR_GUESTS: ReadonlySet<string> = new Set([
  ...SMALL_TALK,
  'time',
  'date',
  'weekend',
  'calculate',
  'divide_by_zero',
  'spell',
  'convert',
  'birthday',
  'age',
  'media_play',
  'media_pause',
  'media_resume',
  'media_stop',
  'media_next',
  'media_previous',
  'media_what',
  'volume_set',
  'volume_change',
  'volume_mute',
  'volume_unmute',
  'help',
  'never_mind',
  'thanks',
  'greeting',
  'goodbye',
  'how_are_you',
  'who_are_you',
  'are_you_ai',
  'my_name',
  'shut_up',
  'listening',
  'delete_everything',
  'look_up',
])

export const isIntentForGuests = (intent: string): boolean => FOR_GUESTS.has(intent)

/** The same for what is to be done later. */
export const isForGuests = ({ intent, slots }: Understood): boolean =>
  isIntentForGuests(intent === 'later' ? String(slots.command) : intent)
