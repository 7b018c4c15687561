import { id, table, text, textOrNull } from '../../db/table.ts'

/** What the times of a recurring to-do are counted from; snoozing one does not change it. */
export interface TodoSeries {
  /** The first time, as `toWall` says, in ISO form. */
  startAt: string
  /** How long before each time it reminds, in milliseconds; null where it does not. */
  remindBeforeMs: number | null
}

export interface TodoRow {
  id: string
  title: string
  list: string | null
  /** `list` as `listKeyOf` makes it, by which it is found; empty for a plain to-do. */
  listKey: string
  notes: string | null
  dueAt: string | null
  remindAt: string | null
  /** `remindAt` while a reminder is still to come; null once it was made, and of what is completed. */
  reminderAt: string | null
  recurrence: string | null
  series: TodoSeries | null
  /** The one that completing this one made. */
  nextId: string | null
  completedAt: string | null
  /** When one that was opened again had been completed; by this a page of completed ones goes on behind it. */
  wasCompletedAt: string | null
  personId: string | null
  createdAt: string
  updatedAt: string
}
export const TodoTable = table<TodoRow>(
  'todo',
  {
    id,
    title: text,
    list: textOrNull,
    listKey: text,
    notes: textOrNull,
    dueAt: textOrNull,
    remindAt: textOrNull,
    reminderAt: textOrNull,
    recurrence: textOrNull,
    series: { type: 'simple-json', nullable: true },
    nextId: textOrNull,
    completedAt: textOrNull,
    wasCompletedAt: textOrNull,
    personId: textOrNull,
    createdAt: text,
    updatedAt: text,
  },
  [
    { name: 'todo_open', columns: ['completedAt', 'dueAt', 'createdAt'] },
    { name: 'todo_list', columns: ['listKey', 'completedAt', 'dueAt', 'createdAt'] },
    { name: 'todo_added', columns: ['listKey'] },
    { name: 'todo_reminder', columns: ['reminderAt'] },
  ],
)
