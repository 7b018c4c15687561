import { randomUUID } from 'node:crypto'
import type { Database, Transaction } from '../../db/database.ts'
import { conflict, invalid, notFound } from '../../kit/errors.ts'
import type { EventBus } from '../../kit/events.ts'
import type { SocketRegistry } from '../../kit/socket-registry.ts'
import type { HouseholdService } from '../household/household.service.ts'
import type { DeviceSessions } from './device-sessions.ts'
import { type DeviceInfo, type PairedDevice, pairingChanged, type QuietHours, type Scope } from './paired-devices.contract.ts'
import { type PairedDeviceRow, PairedDeviceTable } from './paired-devices.table.ts'

export interface PairedDevicesDeps {
  db: Database
  household: HouseholdService
  sockets: SocketRegistry
  sessions: DeviceSessions
  events: EventBus
}

export interface DeviceChanges {
  name?: string | undefined
  scope?: Scope | undefined
  personId?: string | null | undefined
  quietHours?: QuietHours | null | undefined
}

export type PairedDevicesService = ReturnType<typeof createPairedDevicesService>

/** Phones, tablets and TVs. */
export function createPairedDevicesService({ db, household, sockets, sessions, events }: PairedDevicesDeps) {
  const reachHooks: ((deviceId: string) => void)[] = []

  const toDevice = ({ id, name, type, personId, lastSeenAt, scope, quietHours }: PairedDeviceRow): PairedDevice => ({
    id,
    name,
    type,
    userId: personId ?? household.mustHaveHouse().householdId,
    isConnected: sockets.isConnected(id),
    lastSeen: sockets.isConnected(id) ? new Date().toISOString() : lastSeenAt,
    scope,
    quietHours,
  })

  function mustGet(id: string): PairedDeviceRow {
    const row = db.get(PairedDeviceTable, id)
    if (!row) throw notFound('This device')
    return row
  }

  /** Throws 400 for a person who is not of this household. */
  function checkPerson(personId: string | null | undefined): void {
    if (personId && !household.person(personId)) throw invalid([{ path: 'body.personId', message: 'is nobody of this household' }])
  }

  return {
    checkPerson,
    /** Told of a device whose quiet hours became others. */
    onReachChanged: (hook: (deviceId: string) => void) => void reachHooks.push(hook),
    /** Throws 404. */
    get: (id: string): PairedDevice => toDevice(mustGet(id)),
    list: (): PairedDevice[] => db.find(PairedDeviceTable, {}, { order: 'createdAt asc' }).map(toDevice),

    /** Adds a device inside a write; `scope` and `personId` come from whoever let it in, never from the device. */
    add(
      tx: Transaction,
      info: DeviceInfo,
      { id = randomUUID(), scope, personId, name }: { id?: string; scope: Scope; personId: string | null; name?: string | null },
    ): string {
      const at = new Date().toISOString()
      tx.insert(PairedDeviceTable, {
        id,
        name: name ?? info.name,
        type: info.type,
        scope,
        personId: personId && household.person(personId) ? personId : null, // who has left meanwhile leaves it shared
        platform: info.platform ?? null,
        osVersion: info.osVersion ?? null,
        appVersion: info.appVersion ?? null,
        push: info.push ?? null,
        quietHours: null,
        createdAt: at,
        lastSeenAt: at,
      })
      tx.afterCommit(() => events.publish(pairingChanged, { deviceId: id, state: 'paired' }))
      return id
    },

    /** Throws 404, and 400 for an unknown person. Another scope or person ends the device's access tokens and sockets. */
    async update(id: string, { name, scope, personId, quietHours }: DeviceChanges): Promise<PairedDevice> {
      const before = mustGet(id)
      checkPerson(personId)
      const after = {
        name: name ?? before.name,
        scope: scope ?? before.scope,
        personId: personId === undefined ? before.personId : personId,
        quietHours: quietHours === undefined ? before.quietHours : quietHours,
      }
      const rightsChanged = after.scope !== before.scope || after.personId !== before.personId
      await db.write((tx) => {
        tx.update(PairedDeviceTable, id, after)
        if (rightsChanged) sessions.renewAccess(tx, id)
      })
      if (rightsChanged) sockets.close(({ deviceId }) => deviceId === id, 4401)
      events.publish(pairingChanged, { deviceId: id, state: 'changed' })
      if (quietHours !== undefined) for (const hook of reachHooks) hook(id)
      return toDevice(mustGet(id))
    },

    /** Makes the devices of a person who leaves the household's own, inside that write; their access tokens and sockets end. */
    leaveShared(tx: Transaction, personId: string): void {
      for (const { id } of db.find(PairedDeviceTable, { personId })) {
        tx.update(PairedDeviceTable, id, { personId: null })
        sessions.renewAccess(tx, id)
        tx.afterCommit(() => {
          events.publish(pairingChanged, { deviceId: id, state: 'changed' })
          sockets.close(({ deviceId }) => deviceId === id, 4401)
        })
      }
    },

    /** Its name. Throws 404, and 409 `device_offline` where it is neither connected nor reached by push. */
    mustReach(id: string): string {
      const { name, push } = mustGet(id)
      if (!sockets.isConnected(id) && !push) throw conflict('device_offline', `${name} is not connected at the moment.`)
      return name
    },

    /** Throws 404. Its tokens and sockets end at once. */
    async revoke(id: string): Promise<void> {
      const removed = await db.write((tx) => tx.remove(PairedDeviceTable, { id }))
      if (removed === 0) throw notFound('This device')
      events.publish(pairingChanged, { deviceId: id, state: 'revoked' })
      sockets.close(({ deviceId, kind }) => kind === 'device' && deviceId === id, 4401)
    },

    /** Tells that a device is there. */
    came: (id: string): void => events.publish(pairingChanged, { deviceId: id, state: 'connected' }),

    /** Writes down that a device was here until now, and tells where its last connection closed. */
    async seen(id: string): Promise<void> {
      const isKnown = await db.write((tx) => tx.update(PairedDeviceTable, id, { lastSeenAt: new Date().toISOString() }))
      if (isKnown && !sockets.isConnected(id)) events.publish(pairingChanged, { deviceId: id, state: 'disconnected' })
    },
  }
}
