import { randomUUID } from 'node:crypto'
import type { Database, Transaction } from '../../db/database.ts'
import { BOUND_TEXT } from '../../db/rows.ts'
import type { Caller } from '../../kit/caller.ts'
import { forbidden, notFound } from '../../kit/errors.ts'
import type { EventBus } from '../../kit/events.ts'
import type { HouseholdService } from '../household/household.service.ts'
import { PairedDeviceTable } from '../paired-devices/paired-devices.table.ts'
import { type Category, type Level, type Notification, notificationChanged, reminderKey } from './notifications.contract.ts'
import { type NotificationRow, NotificationTable } from './notifications.table.ts'

/**
 * `members` are the devices of members and admins; `all` has those of guests too. What `waits` is kept under the person’s own id until they
 * have a device.
 */
export type Target = { deviceId: string } | { personId: string; waits?: boolean } | 'all' | 'phones' | 'members'

export interface NewNotification {
  title: string
  body: string
  level?: Level | undefined
  category?: Category | null | undefined
  data?: Record<string, string> | undefined
  dedupeKey?: string | null | undefined
  /** Comes in quiet hours too; so do critical ones, and timers where they were set. */
  urgent?: boolean | undefined
  target: Target
}

export interface NotificationsDeps {
  db: Database
  household: HouseholdService
  events: EventBus
  /** Brings what is on the disk to its devices; resolves once it is written down which were sent. */
  deliver(rows: readonly NotificationRow[]): Promise<void>
  onWriteFailed(error: unknown): void
}

interface ListQuery {
  deviceId?: string | undefined
  status?: Notification['status'] | undefined
  limit: number
  /** The last one of the page before. */
  after?: string | undefined
}

const DEVICES = `SELECT "id" FROM "paired_device"`
const ORDER = ` ORDER BY "createdAt"`
const RANK = { pending: 0, sent: 1, delivered: 2, read: 3 }
const READ_SLICE = 100
const UNREAD = `SELECT * FROM "notification" WHERE "deviceId" = ${BOUND_TEXT} AND "status" = ${BOUND_TEXT} AND "seq" <= (? + 0)
  ORDER BY "seq" LIMIT ${READ_SLICE}`
/** Of one device, those that begin with a key; by the index of these keys. */
const OF_KEY = `SELECT * FROM "notification" WHERE "deviceId" = ${BOUND_TEXT} AND "dedupeKey" >= ${BOUND_TEXT} AND "dedupeKey" < ${BOUND_TEXT}
  AND "status" <> 'read'`

const toNotification = ({ id, title, body, deviceId, level, category, status, data, ...times }: NotificationRow): Notification => {
  const { createdAt, sentAt, deliveredAt, readAt } = times
  return { id, title, body, deviceId, level, category, status, data, createdAt, sentAt, deliveredAt, readAt }
}

/** A timer is waited for where it was set; where that device is gone, the others are let sleep. */
const isUrgent = ({ urgent, level, category, target }: NewNotification): boolean =>
  urgent === true || level === 'critical' || (category === 'TIMER' && typeof target === 'object' && 'deviceId' in target)

export type NotificationsService = ReturnType<typeof createNotificationsService>

/** What the house has to say to its people: one record for each device, kept for 30 days; what waits, for a year. */
export function createNotificationsService({ db, household, events, deliver, onWriteFailed }: NotificationsDeps) {
  const idsOf = (where: string, parameters: string[] = []) =>
    db.select<{ id: string }>(DEVICES + where + ORDER, parameters).map(({ id }) => id)

  /** A house with nothing but the PC hears of it there. */
  const elseConsole = (ids: string[]) => (ids.length > 0 ? ids : [household.mustHaveHouse().consoleDeviceId])

  function devicesOf(target: Target): string[] {
    if (target === 'all') return elseConsole(idsOf(''))
    if (target === 'members') return elseConsole(idsOf(` WHERE "scope" <> 'guest'`))
    if (target === 'phones') return idsOf(` WHERE "type" = 'phone'`)
    if ('deviceId' in target) return [target.deviceId]
    const own = idsOf(` WHERE "personId" = ${BOUND_TEXT}`, [target.personId])
    if (target.personId === household.mustHaveHouse().ownerPersonId) return elseConsole(own)
    return own.length === 0 && target.waits ? [target.personId] : own
  }

  const lastSeq = (): number => db.select<{ seq: number | null }>('SELECT MAX("seq") AS "seq" FROM "notification"')[0]?.seq ?? 0

  function addOne(tx: Transaction, deviceId: string, notification: NewNotification) {
    const { title, body, level, category, data, dedupeKey = null } = notification
    const known = dedupeKey === null ? undefined : db.first(NotificationTable, { deviceId, dedupeKey })
    if (known) return { row: known, isNew: false }
    const now = Date.now()
    const row: NotificationRow = {
      id: randomUUID(),
      seq: lastSeq() + 1,
      title,
      body,
      deviceId,
      level: level ?? 'info',
      category: category ?? null,
      status: 'pending',
      data: data ?? {},
      dedupeKey,
      createdAt: new Date(now).toISOString(),
      sentAt: null,
      deliveredAt: null,
      readAt: null,
      urgent: isUrgent(notification),
      attemptAt: now,
      pushTries: 0,
      pushedAt: null,
    }
    tx.insert(NotificationTable, row)
    return { row, isNew: true }
  }

  /** Makes the records inside a write, and delivers those that are new after it, in the order of the writes. */
  function make(tx: Transaction, notification: NewNotification): { rows: NotificationRow[]; delivered(): Promise<void> | undefined } {
    const made = devicesOf(notification.target).map((deviceId) => addOne(tx, deviceId, notification))
    const fresh = made.filter(({ isNew }) => isNew).map(({ row }) => row)
    let delivered: Promise<void> | undefined
    tx.afterCommit(() => {
      for (const { id, deviceId, status } of fresh) events.publish(notificationChanged, { id, deviceId, status })
      if (fresh.length > 0) delivered = deliver(fresh).catch(onWriteFailed)
    })
    return { rows: made.map(({ row }) => row), delivered: () => delivered }
  }

  function mustOwn({ deviceId }: Pick<Caller, 'deviceId'>, id: string): NotificationRow {
    const row = db.get(NotificationTable, id)
    if (row?.deviceId !== deviceId) throw notFound('This notification')
    return row
  }

  function mustSee(caller: Caller, id: string): NotificationRow {
    return mustOwn(caller.scope === 'admin' ? { deviceId: db.get(NotificationTable, id)?.deviceId ?? '' } : caller, id)
  }

  /** Moves a notification forward inside a write, never back. */
  function advance(tx: Transaction, row: NotificationRow, status: 'delivered' | 'read'): void {
    if (RANK[row.status] >= RANK[status]) return
    const at = new Date().toISOString()
    const times = { deliveredAt: row.deliveredAt ?? at, ...(status === 'read' && { readAt: at }) }
    tx.update(NotificationTable, row.id, { status, attemptAt: null, ...times })
    tx.afterCommit(() => events.publish(notificationChanged, { id: row.id, deviceId: row.deviceId, status }))
  }

  /** Newest first, of one device or of all, in one status or in all; from behind one of them on. */
  function listed(where: Partial<NotificationRow>, before: number | undefined, limit: number): NotificationRow[] {
    if (before === undefined) return db.find(NotificationTable, where, { order: 'seq desc', limit })
    const filter = Object.keys(where).map((key) => `"${key}" = ${BOUND_TEXT} AND `)
    const sql = `SELECT "id" FROM "notification" WHERE ${filter.join('')}"seq" < (? + 0) ORDER BY "seq" DESC LIMIT (? + 0)`
    return db
      .select<{ id: string }>(sql, [...(Object.values(where) as string[]), before, limit])
      .flatMap(({ id }) => db.get(NotificationTable, id) ?? [])
  }

  /** Makes a slice of what waited for a person a device’s; false where there was nothing more. */
  async function handOverSome(personId: string, deviceId: string): Promise<boolean> {
    const taken = await db.write((tx) => {
      const rows = db.find(NotificationTable, { deviceId: personId }, { order: 'seq asc', limit: READ_SLICE })
      const isKnown = ({ dedupeKey }: NotificationRow) => dedupeKey !== null && db.first(NotificationTable, { deviceId, dedupeKey })
      for (const row of rows) {
        if (isKnown(row)) tx.remove(NotificationTable, { id: row.id })
        else tx.update(NotificationTable, row.id, { deviceId, attemptAt: row.status === 'pending' ? Date.now() : null })
        tx.afterCommit(() => events.publish(notificationChanged, { id: row.id, deviceId, status: row.status }))
      }
      return rows.map(({ id }) => id)
    })
    const rows = taken.flatMap((id) => db.get(NotificationTable, id) ?? []).filter(({ status }) => status === 'pending')
    if (rows.length > 0) await deliver(rows)
    return taken.length === READ_SLICE
  }

  return {
    /** Brings what waited for a person to a device that is theirs; with no device named, to every one. */
    async handOver(deviceId?: string): Promise<void> {
      const devices =
        deviceId === undefined ? db.find(PairedDeviceTable, {}, { order: 'createdAt asc' }) : [db.get(PairedDeviceTable, deviceId)]
      for (const device of devices) if (device?.personId) while (await handOverSome(device.personId, device.id));
    },

    /** As part of a write of others, removes what waits for a person who is gone. */
    forgetPerson(tx: Transaction, personId: string): void {
      tx.remove(NotificationTable, { deviceId: personId })
    },

    /** Whether something for this person would reach a device of theirs, or the console, which is the owner's. */
    reaches: (personId: string): boolean => devicesOf({ personId }).length > 0,

    /** Whether there is such a device, the console included. */
    hasDevice: (deviceId: string): boolean =>
      deviceId === household.mustHaveHouse().consoleDeviceId || db.get(PairedDeviceTable, deviceId) !== undefined,

    /** Makes the records as part of a write of others, so that one is not without the other; they are delivered after it. */
    add(tx: Transaction, notification: NewNotification): void {
      make(tx, notification)
    },

    /** One record for each device, delivered where the device is there. A device that has one of the same `dedupeKey` answers that. */
    async notify(notification: NewNotification): Promise<Notification[]> {
      const { rows, delivered } = await db.write((tx) => make(tx, notification))
      await delivered()
      return rows.map((row) => toNotification(db.get(NotificationTable, row.id) ?? row))
    },

    /** Newest first. Throws 403 for another's device, 404 where `after` is gone. */
    list(caller: Caller, { deviceId, status, limit, after }: ListQuery): Notification[] {
      const { scope, deviceId: ownId } = caller
      if (scope !== 'admin' && deviceId !== undefined && deviceId !== ownId)
        throw forbidden('Another device’s notifications are not shown.')
      const device = scope === 'admin' ? deviceId : ownId
      const where = { ...(device !== undefined && { deviceId: device }), ...(status !== undefined && { status }) }
      return listed(where, after === undefined ? undefined : mustSee(caller, after).seq, limit).map(toNotification)
    },

    /** Throws 404 for another's too. */
    get: (caller: Caller, id: string): Notification => toNotification(mustSee(caller, id)),

    /** Throws 404 for another's, for admins too. */
    getOwn: (caller: Caller, id: string): Notification => toNotification(mustOwn(caller, id)),

    /** For the device itself: what an admin may see is not theirs to acknowledge so. Throws 404. */
    async arrived(caller: Caller, id: string, status: 'delivered' | 'read'): Promise<void> {
      mustOwn(caller, id)
      await db.write((tx) => advance(tx, mustOwn(caller, id), status))
    },

    /** As part of a write of others, marks as read what still reminds of a to-do, on every device: it is done, put off or gone. */
    settleReminders(tx: Transaction, todoId: string): void {
      const begin = reminderKey(todoId, '')
      const waiting = household.get().persons.map(({ id }) => id)
      for (const deviceId of [...idsOf(''), household.mustHaveHouse().consoleDeviceId, ...waiting]) {
        for (const row of db.select<NotificationRow>(OF_KEY, [deviceId, begin, `${begin}\uffff`])) advance(tx, row, 'read')
      }
    },

    /** Throws 404. What was read stays read. */
    async acknowledge(caller: Caller, id: string, status: 'delivered' | 'read'): Promise<Notification> {
      await db.write((tx) => advance(tx, mustSee(caller, id), status))
      return toNotification(mustSee(caller, id))
    },

    /** Marks all of a device as read, those that come meanwhile excepted. */
    async readAll({ deviceId }: Caller): Promise<void> {
      const until = lastSeq()
      for (const status of ['pending', 'sent', 'delivered'] as const) {
        for (;;) {
          const slice = await db.write((tx) => {
            const rows = db.select<NotificationRow>(UNREAD, [deviceId, status, until])
            for (const row of rows) advance(tx, row, 'read')
            return rows.length
          })
          if (slice < READ_SLICE) break
        }
      }
    },
  }
}
