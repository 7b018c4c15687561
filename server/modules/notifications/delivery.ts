import type { Database } from '../../db/database.ts'
import { BOUND_TEXT } from '../../db/rows.ts'
import type { EventBus } from '../../kit/events.ts'
import type { Greeting } from '../../kit/socket-message.ts'
import type { SocketRegistry } from '../../kit/socket-registry.ts'
import type { HouseholdService } from '../household/household.service.ts'
import { createLines } from './lines.ts'
import { createLooking, FRESH_MS } from './looking.ts'
import type { NotificationRow } from './notifications.table.ts'
import { createOutbox } from './outbox.ts'
import type { Pushers } from './pushers.ts'
import { createPushing } from './pushing.ts'
import { createReplay } from './replay.ts'

export interface DeliveryDeps {
  db: Database
  household: HouseholdService
  sockets: SocketRegistry
  events: EventBus
  pushers: Pushers
  onFailed(error: unknown): void
}

const NEWEST = `SELECT MAX("seq") AS "seq" FROM "notification" WHERE "deviceId" = ${BOUND_TEXT}`
const LOOK_AGAIN = `UPDATE "notification" SET "attemptAt" = ? WHERE "deviceId" = ${BOUND_TEXT} AND "status" IN ('pending', 'sent')
  AND ("attemptAt" IS NOT NULL OR "status" = 'pending') AND "createdAt" >= ${BOUND_TEXT}`

export type Delivery = ReturnType<typeof createDelivery>

/**
 * Brings notifications that are on the disk to their devices: over open connections at once, by push to who is not there or does not
 * answer, and over the next connection again until they are acknowledged.
 */
export function createDelivery({ db, household, sockets, events, pushers, onFailed }: DeliveryDeps) {
  const lines = createLines()
  const looking = createLooking({ db, household, sockets, lines, events })
  const push = createPushing({ db, pushers, events, onFailed })
  const outbox = createOutbox({ db, looking, push, onFailed })
  const replay = createReplay({ db, looking, onFailed })

  const greeting: Greeting = {
    seq: ({ deviceId }) => db.select<{ seq: number | null }>(NEWEST, [deviceId])[0]?.seq ?? 0,
    // A key is nobody’s device: who holds one reads what there is by request.
    welcomed: ({ kind, deviceId }, _lastSeq, send, onClosed) => (kind === 'key' ? undefined : replay(lines.open(deviceId, send, onClosed))),
  }

  return {
    greeting,
    start: outbox.start,
    stop: outbox.stop,

    /** Takes up what was just written; resolves once it is written down which were sent. */
    async deliver(rows: readonly NotificationRow[]): Promise<void> {
      try {
        await looking.look(rows)
      } finally {
        outbox.rearm()
      }
    },

    /** Looks at once at what waits for a device; for when how it may be reached became otherwise. */
    async lookAgain(deviceId: string): Promise<void> {
      const now = Date.now()
      await db.write((tx) => tx.run(LOOK_AGAIN, [now, deviceId, new Date(now - FRESH_MS).toISOString()]))
      outbox.rearm()
    },
  }
}
