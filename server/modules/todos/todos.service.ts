import { randomUUID } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
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
  /** Settles the notifications that remind of a to-do, wherever they are shown. */
  settle(tx: Transaction, todoId: string): void
}

type Status = 'open' | 'completed' | 'all'
type Field = 'title' | 'list' | 'notes' | 'dueAt' | 'remindAt' | 'recurrence' | 'personId'
type Fields = { [K in Field]: TodoRow[K] }
/** Fields that are absent or undefined are left as they are. */
export type TodoChanges = { [K in Field]?: TodoRow[K] | undefined } & { completed?: boolean | undefined }
export type NewTodo = Omit<TodoChanges, 'title' | 'completed'> & { title: string }

interface Reminding {
  /** Without it what should have been told already is told at once. */
  aheadOnly?: boolean
}

interface ListQuery {
  status: Status
  /** A list's name in any case, empty for what is on none; all when absent. */
  list?: string | undefined
  limit: number
  /** The last one of the page before. */
  after?: string | undefined
}

interface ComingQuery {
  until: string
  /** Null is nobody's in particular; everybody's when absent. */
  personId?: string | null | undefined
  reminders?: boolean | undefined
  list?: string | undefined
}

/** After every time that is written. */
export const END_OF_TIME = '~'
const MAX_COMING = 1_000
const NO_FIELDS = { list: null, notes: null, dueAt: null, remindAt: null, recurrence: null, personId: null }
const MAX_LISTS = 500
const REMOVED_AT_ONCE = 50

/** A stretch of a list in which its order is that of an index. */
interface Slice {
  where: string
  order: string
  /** What follows a row in it. */
  behind: string
  valuesOf(row: TodoRow): string[]
}

const BEHIND = `(SELECT "rowid" FROM "todo" WHERE "id" = ${BOUND_TEXT})`
const DUE: Slice = {
  where: `"completedAt" IS NULL AND "dueAt" > ''`,
  order: '"dueAt", "createdAt", "rowid"',
  behind: `("dueAt", "createdAt", "rowid") > (${BOUND_TEXT}, ${BOUND_TEXT}, ${BEHIND})`,
  valuesOf: ({ id, dueAt, createdAt }) => [dueAt ?? '', createdAt, id],
}
const UNDATED: Slice = {
  where: '"completedAt" IS NULL AND "dueAt" IS NULL',
  order: '"createdAt", "rowid"',
  behind: `("createdAt", "rowid") > (${BOUND_TEXT}, ${BEHIND})`,
  valuesOf: ({ id, createdAt }) => [createdAt, id],
}
const COMPLETED: Slice = {
  where: `"completedAt" > ''`,
  order: '"completedAt" DESC, "rowid" DESC',
  behind: `("completedAt", "rowid") < (${BOUND_TEXT}, ${BEHIND})`,
  valuesOf: ({ id, completedAt, wasCompletedAt }) => [completedAt ?? wasCompletedAt ?? '', id],
}
/** All of them in an order that completing does not change, so that the last one of a page is still where it was. */
const ADDED: Slice = {
  where: '"rowid" > 0',
  order: '"rowid" DESC',
  behind: `"rowid" < ${BEHIND}`,
  valuesOf: ({ id }) => [id],
}
const SLICES: Record<Status, Slice[]> = { open: [DUE, UNDATED], completed: [COMPLETED], all: [ADDED] }

/** In which stretch a page goes on; one that was completed or opened since is still where it was. */
function sliceOf({ dueAt }: TodoRow, status: Status): Slice {
  if (status === 'all') return ADDED
  if (status === 'completed') return COMPLETED
  return dueAt === null ? UNDATED : DUE
}

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

/** Whether nobody changed what followed; one that was only done and opened again is as it was, unless it still reminds. */
function isTwin(row: TodoRow, next: TodoRow): boolean {
  if (next.updatedAt === next.createdAt) return true
  const isSame = (['title', 'listKey', 'notes', 'recurrence', 'personId'] as const).every((field) => row[field] === next[field])
  return isSame && next.reminderAt === null && isDeepStrictEqual(row.series, next.series)
}

export type TodosService = ReturnType<typeof createTodosService>

/** What is to be done, on lists or on none. */
export function createTodosService({ db, household, events, reminders, settle }: TodosDeps) {
  const zone = () => household.get().household.timezone
  const now = () => new Date().toISOString()
  const isAhead = (at: string | null) => at !== null && at > now()

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

  function newRow(fields: Fields, { aheadOnly = false }: Reminding = {}): TodoRow {
    const createdAt = now()
    const { remindAt } = fields
    const recurrence = readRecurrence(fields.recurrence)
    return {
      ...fields,
      id: randomUUID(),
      listKey: listKeyOf(fields.list),
      recurrence,
      reminderAt: aheadOnly && !isAhead(remindAt) ? null : remindAt,
      series: recurrence === null ? null : seriesOf(recurrence, { ...fields, createdAt }, zone()),
      nextId: null,
      completedAt: null,
      wasCompletedAt: null,
      createdAt,
      updatedAt: createdAt,
    }
  }

  /** What comes after a recurring one; it goes on with the same series. */
  function nextOf(row: TodoRow): TodoRow | null {
    const isFollowed = row.nextId !== null && db.get(TodoTable, row.nextId) !== undefined
    const times = isFollowed ? null : nextTimes(row, zone(), now())
    if (!times) return null
    const at = now()
    const fresh = { id: randomUUID(), completedAt: null, wasCompletedAt: null, createdAt: at, updatedAt: at }
    return { ...row, ...times, ...fresh, reminderAt: times.remindAt }
  }

  /** Completing twice does nothing more; so a recurring one is followed by one. */
  function completeIn(tx: Transaction, row: TodoRow): void {
    if (row.completedAt !== null) return
    const next = nextOf(row)
    const at = now()
    tx.update(TodoTable, row.id, { completedAt: at, updatedAt: at, reminderAt: null, nextId: next?.id ?? row.nextId })
    settle(tx, row.id)
    changed(tx, row.id)
    tx.afterCommit(() => events.publish(todoCompleted, { todoId: row.id, title: row.title }))
    if (next) insert(tx, next)
  }

  /** Takes back the one that followed, unless that is done too or was changed: then both stay. */
  function reopenIn(tx: Transaction, row: TodoRow): void {
    if (row.completedAt === null) return
    const next = row.nextId === null ? undefined : db.get(TodoTable, row.nextId)
    const isTakenBack = next?.completedAt === null && isTwin(row, next)
    if (next && isTakenBack) {
      tx.remove(TodoTable, { id: next.id })
      changed(tx, next.id)
    }
    tx.update(TodoTable, row.id, {
      completedAt: null,
      wasCompletedAt: row.completedAt,
      updatedAt: now(),
      reminderAt: isAhead(row.remindAt) ? row.remindAt : null,
      nextId: next && !isTakenBack ? row.nextId : null,
    })
    changed(tx, row.id)
  }

  function removeIn(tx: Transaction, row: TodoRow): Todo {
    tx.remove(TodoTable, { id: row.id })
    settle(tx, row.id)
    changed(tx, row.id)
    return toTodo(row)
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
        if (patch.reminderAt !== undefined) settle(tx, id)
        changed(tx, id)
      }
      if (changes.completed === true) completeIn(tx, mustGet(id))
      if (changes.completed === false) reopenIn(tx, mustGet(id))
    })
    return toTodo(mustGet(id))
  }

  return {
    /** Throws 404 where `after` is gone. Open ones by when they are due, those without a time after them; completed ones, and all of them, newest first. */
    list({ status, list, limit, after }: ListQuery): Todo[] {
      const rows: TodoRow[] = []
      const last = after === undefined ? undefined : mustGet(after)
      const begin = last && sliceOf(last, status)
      const [filter, key] = list === undefined ? ['', []] : [`"listKey" = ${BOUND_TEXT} AND `, [listKeyOf(list)]]
      for (const slice of SLICES[status].slice(begin ? SLICES[status].indexOf(begin) : 0)) {
        if (rows.length === limit) break
        const [behind, values] = last && slice === begin ? [` AND ${slice.behind}`, slice.valuesOf(last)] : ['', []]
        const sql = `SELECT * FROM "todo" WHERE ${filter}${slice.where}${behind} ORDER BY ${slice.order} LIMIT (? + 0)`
        rows.push(...db.select<TodoRow>(sql, [...key, ...values, limit - rows.length]))
      }
      return rows.map(toTodo)
    },

    /** What is open and due or reminds before `until`, or with `reminders` only what reminds still, by when; with a person theirs and nobody's. */
    coming({ until, personId, reminders, list }: ComingQuery): Todo[] {
      const mine = personId === undefined ? '' : ` AND ("personId" IS NULL OR "personId" = ${BOUND_TEXT})`
      const on = list === undefined ? '' : ` AND "listKey" = ${BOUND_TEXT}`
      const whose = [...(personId === undefined ? [] : [personId ?? '']), ...(list === undefined ? [] : [listKeyOf(list)])]
      const read = (where: string, by: string, values: string[]) =>
        db.select<TodoRow>(
          `SELECT * FROM "todo" WHERE "completedAt" IS NULL${mine}${on} AND ${where} ORDER BY "${by}" LIMIT ${MAX_COMING}`,
          [...whose, ...values],
        )
      const before = (column: string) => `"${column}" > ${BOUND_TEXT} AND "${column}" < ${BOUND_TEXT}`
      if (reminders) return read(before('reminderAt'), 'reminderAt', [now(), until]).map(toTodo)
      const due = read(before('dueAt'), 'dueAt', ['', until])
      const remembered = read(`${before('remindAt')} AND ("dueAt" IS NULL OR "dueAt" >= ${BOUND_TEXT})`, 'remindAt', ['', until, until])
      const timeOf = ({ dueAt, remindAt }: TodoRow) => (dueAt !== null && dueAt < until ? dueAt : (remindAt ?? ''))
      return [...due, ...remembered].toSorted((a, b) => (timeOf(a) < timeOf(b) ? -1 : 1)).map(toTodo)
    },

    /** How many are open, of a list or of all. */
    countOpen(list?: string): number {
      const filter = list === undefined ? '' : ` AND "listKey" = ${BOUND_TEXT}`
      const sql = `SELECT COUNT(*) AS "count" FROM "todo" WHERE "completedAt" IS NULL${filter}`
      return db.select<{ count: number }>(sql, list === undefined ? [] : [listKeyOf(list)])[0]?.count ?? 0
    },

    /** By name; a list is there as long as something is on it, done or not. */
    lists: (): { name: string; open: number }[] => db.select(LISTS),

    /** Throws 404. */
    get: (id: string): Todo => toTodo(mustGet(id)),

    /** Throws 400 for an unknown person or a rule that cannot be used. */
    async create({ title, ...fields }: NewTodo, reminding?: Reminding): Promise<Todo> {
      const row = newRow({ ...NO_FIELDS, ...(present(fields) as Partial<Fields>), title }, reminding)
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
        settle(tx, id)
        changed(tx, id)
      })
      return toTodo(mustGet(id))
    },

    /** Throws 404. */
    remove: (id: string): Promise<Todo> => db.write((tx) => removeIn(tx, mustGet(id))),

    /** Some at a time; those that are gone already are left out. */
    async removeAll(ids: readonly string[]): Promise<void> {
      for (let at = 0; at < ids.length; at += REMOVED_AT_ONCE) {
        await db.write((tx) => {
          const rows = ids.slice(at, at + REMOVED_AT_ONCE).flatMap((id) => db.get(TodoTable, id) ?? [])
          for (const row of rows) removeIn(tx, row)
        })
      }
    },
  }
}
