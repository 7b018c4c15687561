import type { Todo } from '../../../server/modules/todos/todos.contract.ts'
import { type Day, dayOf, instant, timeOf } from '../../messages/zone.ts'
import { type Repeat, readRepeat, writeRepeat } from '../calendar/repeat.ts'
import type { Home } from '../household/home.state.svelte.ts'
import { listKey, NO_TIME } from './todo-words.ts'

/** Chosen to name a list of which there is nothing yet. */
export const OTHER_LIST = '\n'

/** A to-do as fields; days and times are those of the household's zone. */
export interface TodoValues {
  title: string
  list: { key: string; other: string }
  dueAt: { day: Day; time: string }
  remindAt: { on: boolean; day: Day; time: string }
  recurrence: Repeat
  personId: string
  notes: string
}

interface TodoBody {
  title: string
  list: string | null
  dueAt: string | null
  remindAt: string | null
  recurrence: Repeat
  personId: string | null
  notes: string | null
}

type Sent = Partial<Omit<TodoBody, 'recurrence'>> & { recurrence?: string | null }

/** Turns a to-do into the fields of its form, and the fields into what is sent. */
export class TodoForm {
  readonly #home: Home
  readonly #zone: string
  readonly #today: Day

  constructor(home: Home, today: Day) {
    this.#home = home
    this.#zone = home.zone
    this.#today = today
  }

  valuesOf(todo: Todo | null): TodoValues {
    const { dueAt, remindAt, personId } = todo ?? {}
    const day = (at: string | undefined) => (at ? dayOf(at, this.#zone) : '')
    const time = (at: string | undefined) => (at ? timeOf(at, this.#zone) : '')
    return {
      title: todo?.title ?? '',
      list: { key: listKey(todo?.list), other: '' },
      dueAt: { day: day(dueAt), time: time(dueAt) === NO_TIME ? '' : time(dueAt) },
      remindAt: { on: remindAt !== undefined, day: day(remindAt), time: time(remindAt) },
      recurrence: readRepeat(todo?.recurrence, day(dueAt) || this.#today, this.#zone),
      // Who no longer lives here is nobody to choose.
      personId: this.#home.read.value && !this.#home.nameOf(personId) ? '' : (personId ?? ''),
      notes: todo?.notes ?? '',
    }
  }

  bodyOf({ title, list, dueAt, remindAt, recurrence, personId, notes }: TodoValues): TodoBody {
    const reminds = remindAt.on && remindAt.day !== '' && remindAt.time !== ''
    return {
      title: title.trim(),
      list: (list.key === OTHER_LIST ? list.other.trim() : list.key) || null,
      dueAt: dueAt.day ? instant(dueAt.day, dueAt.time || NO_TIME, this.#zone) : null,
      remindAt: reminds ? instant(remindAt.day, remindAt.time, this.#zone) : null,
      recurrence,
      personId: personId || null,
      notes: notes.trim() || null,
    }
  }

  isComplete({ title, list, remindAt }: TodoValues): boolean {
    const named = list.key !== OTHER_LIST || list.other.trim() !== ''
    return title.trim() !== '' && named && (!remindAt.on || (remindAt.day !== '' && remindAt.time !== ''))
  }

  /** What is sent of what was changed of `todo`, or of a new one. The rule stays as it is where it means the same for the new day. */
  sent({ recurrence, ...rest }: Partial<TodoBody>, values: TodoValues, todo: Todo | null): Sent {
    const day = values.dueAt.day || this.#today
    const repeat = values.recurrence
    const fits = !todo?.recurrence || readRepeat(todo.recurrence, day, this.#zone).kind === repeat.kind
    const isWritten = recurrence !== undefined || (!fits && repeat.kind !== 'other')
    return isWritten ? { ...rest, recurrence: writeRepeat(repeat, day, this.#zone, false) } : rest
  }
}
