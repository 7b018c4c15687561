import type { UnderstandingNames } from './understood.ts'

/** The action that does what a sentence asks for, by how its intent's name begins; the longest counts. */
const DONE_BY: Readonly<Record<string, string>> = {
  remember: 'remember',
  recall: 'recall',
  forget: 'forget',
  list_: 'list_todos',
  list_add: 'add_todo',
  todo_: 'add_todo',
  remind: 'add_todo',
  timer_: 'set_timer',
  alarm_: 'set_timer',
  event_: 'list_events',
  event_add: 'add_event',
  when_is: 'list_events',
  media_: 'play_song',
  volume_: 'set_volume',
  turn_: 'plug_on',
  plug_: 'plug_status',
  camera_: 'camera_snapshot',
  announce: 'send_notification',
  tell_person: 'send_notification',
}
/** What these are about has to be there. */
const ABOUT: Readonly<Record<string, keyof UnderstandingNames>> = { turn_: 'plugs', plug_: 'plugs', camera_: 'cameras' }

function named<Value>(table: Readonly<Record<string, Value>>, intent: string): Value | undefined {
  const longest = Object.keys(table)
    .filter((start) => intent.startsWith(start))
    .toSorted((a, b) => b.length - a.length)[0]
  return longest === undefined ? undefined : table[longest]
}

/** Said in answer to something, they are no example by themselves; timers are changed only where there are some. */
const NO_EXAMPLES: ReadonlySet<string> = new Set([
  'undo',
  'never_mind',
  'forget_that',
  'forget_pick',
  'when_only',
  'why_known',
  'recall_me',
  'thanks',
  'greeting',
  'goodbye',
  'how_are_you',
])
const OF_TIMERS: ReadonlySet<string> = new Set([
  'timer_cancel',
  'timer_cancel_all',
  'timer_add',
  'timer_reduce',
  'timer_pause',
  'timer_resume',
  'alarm_cancel',
])

/** Whether a house that has these things and actions can do what an intent means. */
export function isThere(intent: string, names: UnderstandingNames, has: (action: string) => boolean): boolean {
  if (NO_EXAMPLES.has(intent) || (OF_TIMERS.has(intent) && names.timers.length === 0)) return false
  const action = named(DONE_BY, intent)
  const about = named(ABOUT, intent)
  return (action === undefined || has(action)) && (about === undefined || names[about].length > 0)
}
