import { id, table, text, textOrNull } from '../../db/table.ts'

export interface TodoRow {
  id: string
  title: string
  list: string | null
  /** `list` in lower case, by which it is found; empty for a plain to-do. */
  listKey: string
  notes: string | null
  dueAt: string | null
  remindAt: string | null
  /** The `remindAt` for which a reminder was made. */
  remindedAt: string | null
  recurrence: string | null
  completedAt: string | null
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
    remindedAt: textOrNull,
    recurrence: textOrNull,
    completedAt: textOrNull,
    personId: textOrNull,
    createdAt: text,
    updatedAt: text,
  },
  [
    { name: 'todo_open', columns: ['completedAt', 'dueAt'] },
    { name: 'todo_list', columns: ['listKey', 'completedAt'] },
    { name: 'todo_remind', columns: ['completedAt', 'remindAt'] },
  ],
)
