import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Database, openDatabase } from '../../server/db/database.ts'
import { migrations } from '../../server/db/migrations/all.ts'
import type { Caller } from '../../server/kit/caller.ts'
import { createEventBus } from '../../server/kit/events.ts'
import { createLog } from '../../server/kit/log.ts'
import type { SendHere } from '../../server/kit/socket-message.ts'
import { createSocketRegistry } from '../../server/kit/socket-registry.ts'
import { createHouseholdService } from '../../server/modules/household/household.service.ts'
import { createDelivery } from '../../server/modules/notifications/delivery.ts'
import { createNotificationsService } from '../../server/modules/notifications/notifications.service.ts'
import { type NotificationRow, NotificationTable } from '../../server/modules/notifications/notifications.table.ts'
import type { NotificationMessage, PushOutcome, PushTarget } from '../../server/modules/notifications/pushers.ts'
import { type PairedDeviceRow, PairedDeviceTable } from '../../server/modules/paired-devices/paired-devices.table.ts'
import { tables } from '../../server/tables.ts'

/** A connection of a device, and what came over it. */
export interface FakeLine {
  heard: NotificationMessage[]
  close(): void
}

export interface SmallHouse {
  db: Database
  notifications: ReturnType<typeof createNotificationsService>
  delivery: ReturnType<typeof createDelivery>
  /** What was handed to a gateway, in order. */
  pushed: { device: string; title: string; token: string }[]
  /** What the gateways say to it; `sent` unless told otherwise. */
  answers: (device: PushTarget, notification: NotificationMessage) => Promise<PushOutcome>
  failures: unknown[]
  addDevice(device?: Partial<PairedDeviceRow>): Promise<string>
  connect(deviceId: string): FakeLine
  notify(deviceId: string, title: string, more?: { level?: 'info' | 'critical'; category?: 'TIMER'; urgent?: boolean }): Promise<string>
  row(id: string): NotificationRow
  /** A new start of delivery on the same data, as after a crash. */
  restart(): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

export const callerOf = (deviceId: string): Caller => ({
  kind: 'device',
  scope: 'member',
  deviceId,
  userId: randomUUID(),
  personId: null,
  sessionId: randomUUID(),
  via: 'bearer',
})

/** Notifications and their delivery over a real database, with connections and gateways of the test's own. */
export async function smallHouse(timezone = 'Europe/Berlin'): Promise<SmallHouse> {
  const folder = mkdtempSync(join(tmpdir(), 'hearth-delivery-'))
  const db = await openDatabase({
    path: join(folder, 'hearth.sqlite'),
    backupsPath: join(folder, 'backups'),
    tables,
    migrations,
    wasUnclean: false,
    log: createLog('silent'),
    onDiskFailure(error) {
      throw error
    },
  })
  const household = createHouseholdService({ db })
  await db.write((tx) => household.found(tx, { ownerName: 'Ada', displayName: 'Home', timezone, locale: 'en-GB' }))
  const failures: unknown[] = []
  const onFailed = (error: unknown) => void failures.push(error)
  const events = createEventBus(onFailed)
  const make = () => {
    const pushers = {
      push(device: PushTarget, notification: NotificationMessage) {
        house.pushed.push({ device: device.id, title: notification.title, token: device.push.token })
        return house.answers(device, notification)
      },
    }
    const delivery = createDelivery({ db, household, sockets: createSocketRegistry(), events, pushers, onFailed })
    const notifications = createNotificationsService({ db, household, events, deliver: delivery.deliver, onWriteFailed: onFailed })
    return { delivery, notifications }
  }
  const house: SmallHouse = {
    db,
    pushed: [],
    answers: async () => 'sent',
    failures,
    ...make(),
    async addDevice(device = {}) {
      const id = randomUUID()
      const at = new Date().toISOString()
      const nothing = { personId: null, platform: null, osVersion: null, appVersion: null, push: null, quietHours: null }
      const row = { id, name: 'Phone', type: 'phone', scope: 'member', createdAt: at, lastSeenAt: at, ...nothing, ...device } as const
      await db.write((tx) => tx.insert(PairedDeviceTable, row))
      return id
    },
    connect(deviceId) {
      const heard: NotificationMessage[] = []
      let close = () => undefined as void
      const send: SendHere = async (_message, payload) => heard.push(payload as NotificationMessage) > 0
      void house.delivery.greeting.welcomed(callerOf(deviceId), null, send, (then) => {
        close = then
      })
      return { heard, close: () => close() }
    },
    async notify(deviceId, title, more = {}) {
      const [one] = await house.notifications.notify({ title, body: '', target: { deviceId }, ...more })
      return one?.id ?? ''
    },
    row: (id) => db.get(NotificationTable, id) as NotificationRow,
    async restart() {
      await house.delivery.stop()
      Object.assign(house, make())
      house.delivery.start()
    },
    async [Symbol.asyncDispose]() {
      await house.delivery.stop()
      await db.close()
      rmSync(folder, { recursive: true, force: true })
    },
  }
  house.delivery.start()
  return house
}
