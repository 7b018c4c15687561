import { randomUUID } from 'node:crypto'
import type { Database, Transaction } from '../../db/database.ts'
import { BOUND_TEXT } from '../../db/rows.ts'
import { invalid, notFound } from '../../kit/errors.ts'
import type { EventBus } from '../../kit/events.ts'
import type { WakeUp } from '../../kit/wake-up.ts'
import type { HouseholdService } from '../household/household.service.ts'
import { nextTimes, readRecurrence, seriesOf } from './chores.ts'
import { type Todo, todoChanged, todoCompleted, todoCreated } from './todos.contract.ts'
import { type TodoRow, TodoTable } from './todos.table.ts'

export interface TodosDeps {
  db: Database
  household: HouseholdService
  events: EventBus
  reminders: WakeUp
}

type Status = 'open' | 'completed' | 'all'
type Field = 'title' | 'list' | 'notes' | 'dueAt' | 'remindAt' | 'recurrence' | 'personId'
type Fields = { [K in Field]: TodoRow[K] }
/** Fields that are absent or undefined are left as they are. */
export type TodoChanges = { [K in Field]?: TodoRow[K] | undefined } & { completed?: boolean | undefined }
export type NewTodo = Omit<TodoChanges, 'title' | 'completed'> & { title: string }

interface ListQuery {
  status: Status
  /** A list's name in any case, empty for what is on none; all when absent. */
  list?: string | undefined
  limit: number
}

const NO_FIELDS = { list: null, notes: null, dueAt: null, remindAt: null, recurrence: null, personId: null }
const MAX_LISTS = 500
const OPEN = [
  `"completedAt" IS NULL AND "dueAt" > '' ORDER BY "dueAt", "createdAt"`,
  `"completedAt" IS NULL AND "dueAt" IS NULL ORDER BY "createdAt"`,
]
const COMPLETED = [`"completedAt" > '' ORDER BY "completedAt" DESC`]
const SLICES: Record<Status, string[]> = { open: OPEN, completed: COMPLETED, all: [...OPEN, ...COMPLETED] }

/** Goes from name to name in the index, however many to-dos there are. */
const LISTS = `WITH RECURSIVE "keys"("key") AS (SELECT MIN("listKey") FROM "todo" WHERE "listKey" > ''
    UNION ALL SELECT (SELECT MIN("listKey") FROM "todo" WHERE "listKey" > "keys"."key") FROM "keys" WHERE "keys"."key" IS NOT NULL LIMIT ${MAX_LISTS})
  SELECT (SELECT "list" FROM "todo" WHERE "listKey" = "keys"."key" ORDER BY "completedAt", "dueAt", "createdAt" LIMIT 1) AS "name",
    (SELECT COUNT(*) FROM "todo" WHERE "listKey" = "keys"."key" AND "completedAt" IS NULL) AS "open"
  FROM "keys" WHERE "keys"."key" IS NOT NULL`

/** What a list is found by, in whatever case its name is written. */
export const listKeyOf = (list: string | null): string => (list ?? '').normalize('NFC').trim().replaceAll(/\s+/g, ' ').toLowerCase()

const present = <T extends object>(record: T) =>
  Object.fromEntries(Object.entries(record).filter(([, value]) => value !== undefined && value !== null))

const toTodo = ({ id, title, createdAt, ...row }: TodoRow): Todo => {
  const { list, notes, dueAt, remindAt, recurrence, completedAt, personId } = row
  return { id, title, ...present({ list, notes, dueAt, remindAt, recurrence, completedAt, personId }), createdAt }
}

export type TodosService = ReturnType<typeof createTodosService>

/** What is to be done, on lists or on none. */
export function createTodosService({ db, household, events, reminders }: TodosDeps) {
  const zone = () => household.get().household.timezone
  const now = () => new Date().toISOString()

  function mustGet(id: string): TodoRow {
    const row = db.get(TodoTable, id)
    if (!row) throw notFound('This to-do')
    return row
  }

  /** Throws 400. */
  function checkPerson(personId: string | null): void {
    if (personId !== null && !household.person(personId)) throw invalid([{ path: 'body.personId', message: 'is nobody of this household' }])
  }

  const changed = (tx: Transaction, id: string) =>
    tx.afterCommit(() => {
      events.publish(todoChanged, { id })
      reminders.rearm()
    })

  function insert(tx: Transaction, row: TodoRow): void {
    tx.insert(TodoTable, row)
    changed(tx, row.id)
    tx.afterCommit(() => events.publish(todoCreated, { todoId: row.id, title: row.title }))
  }

  function newRow(fields: Fields): TodoRow {
    const createdAt = now()
    const recurrence = readRecurrence(fields.recurrence)
    return {
      ...fields,
      id: randomUUID(),
      listKey: listKeyOf(fields.list),
      recurrence,
      reminderAt: fields.remindAt,
      series: recurrence === null ? null : seriesOf(recurrence, { ...fields, createdAt }, zone()),
      nextId: null,
      completedAt: null,
      createdAt,
      updatedAt: createdAt,
    }
  }

  /** What comes after a recurring one; it goes on with the same series. */
  function nextOf(row: TodoRow): TodoRow | null {
    const times = row.nextId === null ? nextTimes(row, zone(), now()) : null
    if (!times) return null
    const at = now()
    return { ...row, ...times, id: randomUUID(), reminderAt: times.remindAt, completedAt: null, createdAt: at, updatedAt: at }
  }

  /** Completing twice does nothing more; so a recurring one is followed by one. */
  function completeIn(tx: Transaction, row: TodoRow): void {
    if (row.completedAt !== null) return
    const next = nextOf(row)
    const at = now()
    tx.update(TodoTable, row.id, { completedAt: at, updatedAt: at, reminderAt: null, nextId: next?.id ?? row.nextId })
    changed(tx, row.id)
    tx.afterCommit(() => events.publish(todoCompleted, { todoId: row.id, title: row.title }))
    if (next) insert(tx, next)
  }

  /** Takes back the one that followed, unless that is done too. */
  function reopenIn(tx: Transaction, row: TodoRow): void {
    if (row.completedAt === null) return
    const next = row.nextId === null ? undefined : db.get(TodoTable, row.nextId)
    const isNextOpen = next?.completedAt === null
    if (next && isNextOpen) {
      tx.remove(TodoTable, { id: next.id })
      changed(tx, next.id)
    }
    tx.update(TodoTable, row.id, {
      completedAt: null,
      updatedAt: now(),
      reminderAt: row.remindAt !== null && row.remindAt > now() ? row.remindAt : null,
      nextId: next && !isNextOpen ? row.nextId : null,
    })
    changed(tx, row.id)
  }

  function changesOf(row: TodoRow, { completed: _, ...changes }: TodoChanges): Partial<TodoRow> {
    const patch = Object.fromEntries(Object.entries(changes).filter(([, value]) => value !== undefined)) as Partial<Fields>
    const recurrence = patch.recurrence === undefined ? row.recurrence : readRecurrence(patch.recurrence)
    const after = { ...row, ...patch, recurrence }
    if (after.personId !== row.personId) checkPerson(after.personId)
    const isMoved = after.dueAt !== row.dueAt || after.remindAt !== row.remindAt
    const isRemindedAnew = after.remindAt !== row.remindAt && row.completedAt === null
    return {
      ...patch,
      recurrence,
      listKey: listKeyOf(after.list),
      ...(isRemindedAnew && { reminderAt: after.remindAt }),
      ...((isMoved || recurrence !== row.recurrence) && { series: recurrence === null ? null : seriesOf(recurrence, after, zone()) }),
    }
  }

  /** Throws 404, and 400 for an unknown person or a rule that cannot be used. */
  async function update(id: string, changes: TodoChanges): Promise<Todo> {
    await db.write((tx) => {
      const row = mustGet(id)
      const patch = changesOf(row, changes)
      if (Object.keys(changes).some((key) => key !== 'completed')) {
        tx.update(TodoTable, id, { ...patch, updatedAt: now() })
        changed(tx, id)
      }
      if (changes.completed === true) completeIn(tx, mustGet(id))
      if (changes.completed === false) reopenIn(tx, mustGet(id))
    })
    return toTodo(mustGet(id))
  }

  return {
    /** Open ones first by when they are due, those without a time after them; completed ones newest first. */
    list({ status, list, limit }: ListQuery): Todo[] {
      const rows: TodoRow[] = []
      const filter = list === undefined ? '' : `"listKey" = ${BOUND_TEXT} AND `
      for (const slice of SLICES[status]) {
        if (rows.length === limit) break
        const parameters = [...(list === undefined ? [] : [listKeyOf(list)]), limit - rows.length]
        rows.push(...db.select<TodoRow>(`SELECT * FROM "todo" WHERE ${filter}${slice} LIMIT (? + 0)`, parameters))
      }
      return rows.map(toTodo)
    },

    /** By name; a list is there as long as something is on it, done or not. */
    lists: (): { name: string; open: number }[] => db.select(LISTS),

    /** Throws 404. */
    get: (id: string): Todo => toTodo(mustGet(id)),

    /** Throws 400 for an unknown person or a rule that cannot be used. */
    async create({ title, ...fields }: NewTodo): Promise<Todo> {
      const row = newRow({ ...NO_FIELDS, ...(present(fields) as Partial<Fields>), title })
      checkPerson(row.personId)
      await db.write((tx) => insert(tx, row))
      return toTodo(row)
    },

    update,

    /** Throws 404. A recurring one comes again, once: `next` is that one. */
    async complete(id: string): Promise<{ todo: Todo; next: Todo | null }> {
      const todo = await update(id, { completed: true })
      const { nextId } = mustGet(id)
      const next = nextId === null ? undefined : db.get(TodoTable, nextId)
      return { todo, next: next ? toTodo(next) : null }
    },

    /** Reminds again in so many minutes, without moving when it is due or recurs. Throws 404. */
    async snooze(id: string, minutes: number): Promise<Todo> {
      await db.write((tx) => {
        if (mustGet(id).completedAt !== null) return
        const remindAt = new Date(Date.now() + minutes * 60_000).toISOString()
        tx.update(TodoTable, id, { remindAt, reminderAt: remindAt, updatedAt: now() })
        changed(tx, id)
      })
      return toTodo(mustGet(id))
    },

    /** Throws 404. */
    async remove(id: string): Promise<Todo> {
      return db.write((tx) => {
        const row = mustGet(id)
        tx.remove(TodoTable, { id })
        changed(tx, id)
        return toTodo(row)
      })
    },
  }
}
