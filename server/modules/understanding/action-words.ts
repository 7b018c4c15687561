import type { Language } from './language.ts'

/** The actions that do what intents mean, by how those’ names begin; the longest counts. */
const DONE_BY: Readonly<Record<string, string>> = {
  remember: 'remember',
  recall: 'recall',
  forget: 'forget',
  list_: 'list_todos',
  list_add: 'add_todo',
  list_complete: 'complete_todo',
  list_remove: 'remove_todo',
  list_clear: 'clear_list',
  todo_: 'list_todos',
  todo_add: 'add_todo',
  remind: 'add_todo',
  reminder_remove: 'remove_todo',
  reminders_: 'list_todos',
  timer_: 'change_timer',
  timer_set: 'set_timer',
  timer_cancel: 'cancel_timer',
  timer_status: 'list_timers',
  alarm_: 'set_timer',
  alarm_cancel: 'cancel_timer',
  alarm_status: 'list_timers',
  event_: 'list_events',
  event_add: 'add_event',
  event_remove: 'remove_event',
  event_cancel: 'remove_event',
  event_move: 'move_event',
  birthday: 'list_events',
  when_is: 'list_events',
  media_: 'play_song',
  volume_: 'set_volume',
  turn_on: 'plug_on',
  turn_off: 'plug_off',
  camera_: 'camera_snapshot',
  announce: 'send_notification',
  tell_person: 'send_notification',
}
const SHORTEST = 4
/** Words that more actions are asked for with say nothing of any. */
const MOST_ACTIONS = 3

const actionOf = (intent: string): string | undefined => {
  const starts = Object.keys(DONE_BY).filter((start) => intent.startsWith(start))
  return DONE_BY[starts.toSorted((a, b) => b.length - a.length)[0] ?? '']
}

const literalsOf = (template: string): string[] =>
  template
    .replaceAll(/[{<][^}>]*[}>]/g, ' ')
    .toLowerCase()
    .match(/\p{L}+/gu)
    ?.filter((word) => word.length >= SHORTEST) ?? []

/** The words with which people of a language ask for each of the house's own actions, by its name, but for those that say nothing. */
export function actionWordsOf({ intents }: Language): ReadonlyMap<string, readonly string[]> {
  const words = new Map<string, Set<string>>()
  const actionsOf = new Map<string, Set<string>>()
  for (const [intent, { says }] of Object.entries(intents)) {
    const action = actionOf(intent)
    if (action === undefined) continue
    for (const word of says.flatMap(literalsOf)) {
      words.set(action, (words.get(action) ?? new Set()).add(word))
      actionsOf.set(word, (actionsOf.get(word) ?? new Set()).add(action))
    }
  }
  const isSaying = (word: string) => (actionsOf.get(word)?.size ?? 0) <= MOST_ACTIONS
  return new Map([...words].map(([action, of]) => [action, [...of].filter(isSaying)]))
}
