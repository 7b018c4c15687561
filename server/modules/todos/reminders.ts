import type { Database, Transaction } from '../../db/database.ts'
import { BOUND_TEXT } from '../../db/rows.ts'
import { spokenMoment } from '../../kit/spoken-time.ts'
import { createWakeUp, type WakeUp } from '../../kit/wake-up.ts'
import type { HouseholdService } from '../household/household.service.ts'
import { reminderKey } from '../notifications/notifications.contract.ts'
import type { NotificationsService } from '../notifications/notifications.service.ts'
import { type TodoRow, TodoTable } from './todos.table.ts'

export interface RemindersDeps {
  db: Database
  household: HouseholdService
  notifications: NotificationsService
  onFailed(error: unknown): void
}

const NEXT = `SELECT "reminderAt" FROM "todo" WHERE "reminderAt" > '' ORDER BY "reminderAt" LIMIT 1`
const DUE = `SELECT "id" FROM "todo" WHERE "reminderAt" > '' AND "reminderAt" <= ${BOUND_TEXT} ORDER BY "reminderAt" LIMIT 20`
const MAX_TITLE = 200

const cut = (line: string) => (line.length > MAX_TITLE ? `${line.slice(0, MAX_TITLE - 1).toWellFormed()}…` : line)

/** Reminds of to-dos: the notification is made and the reminder taken off in one write, so that there is one for each `remindAt`. */
export function createReminders({ db, household, notifications, onFailed }: RemindersDeps): WakeUp {
  function bodyOf({ dueAt, notes, list }: TodoRow): string {
    if (dueAt !== null) return `Due ${spokenMoment(dueAt, household.get().household)}.`
    return cut(notes?.trim().split('\n')[0] ?? '') || (list === null ? 'You wanted to be reminded.' : `On the list “${list}”.`)
  }

  function remind(tx: Transaction, id: string): void {
    const row = db.get(TodoTable, id)
    if (!row) return
    const { personId } = row
    tx.update(TodoTable, id, { reminderAt: null })
    notifications.add(tx, {
      title: cut(row.title),
      body: bodyOf(row),
      category: 'REMINDER',
      data: { todoId: id },
      dedupeKey: reminderKey(id, row.remindAt ?? ''),
      target: personId !== null && household.person(personId) ? { personId, waits: true } : 'members',
    })
  }

  return createWakeUp({
    nextAt() {
      const next = db.select<{ reminderAt: string }>(NEXT)[0]
      return next ? Date.parse(next.reminderAt) : null
    },
    ring: () =>
      db.write((tx) => {
        for (const { id } of db.select<{ id: string }>(DUE, [new Date().toISOString()])) remind(tx, id)
      }),
    onFailed,
  })
}
