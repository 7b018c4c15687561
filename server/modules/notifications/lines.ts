import type { SendHere } from '../../kit/socket-message.ts'
import { notificationPush } from './notifications.contract.ts'
import type { NotificationRow } from './notifications.table.ts'
import type { NotificationMessage } from './pushers.ts'

/** One connection of a device, from its hello on. */
export interface Line {
  deviceId: string
  /** How far what it missed was gone through; null once that is over. */
  cursor: number | null
  /** Sends one that it was not sent before; false where the connection went away. */
  send(row: NotificationRow): Promise<boolean>
  hasHad(row: NotificationRow): boolean
}

/** `taken`: on its way now; `coming`: what it missed is still being gone through; `had`: was sent before; `none`: nobody is there. */
export type Offer = 'taken' | 'coming' | 'had' | 'none'

/** So many numbers of what was sent are kept for each connection; who has not acknowledged that many hears of one twice at worst. */
const MAX_KNOWN = 10_000

/** What a device needs of a notification. */
export const messageOf = ({ id, title, body, level, category, seq, data }: NotificationRow): NotificationMessage => ({
  id,
  title,
  body,
  level,
  category,
  seq,
  data,
})

/** The connections that were greeted, each with what was sent over it, so that each notification goes over each once. */
export function createLines() {
  const perDevice = new Map<string, Set<Line>>()

  function offerTo(line: Line, row: NotificationRow): Offer {
    if (line.hasHad(row)) return 'had'
    if (line.cursor !== null && row.seq > line.cursor) return 'coming'
    void line.send(row)
    return 'taken'
  }

  return {
    open(deviceId: string, send: SendHere, onClosed: (then: () => void) => void): Line {
      const sent = new Set<number>()
      const line: Line = {
        deviceId,
        cursor: 0,
        send(row) {
          sent.add(row.seq)
          if (sent.size > MAX_KNOWN) for (const oldest of sent.values().take(1)) sent.delete(oldest)
          return send(notificationPush, messageOf(row))
        },
        hasHad: ({ seq }) => sent.has(seq),
      }
      const own = perDevice.get(deviceId) ?? new Set()
      perDevice.set(deviceId, own.add(line))
      onClosed(() => {
        own.delete(line)
        if (own.size === 0 && perDevice.get(deviceId) === own) perDevice.delete(deviceId)
      })
      return line
    },

    /** Sends it over every connection of its device that has not had it. */
    offer(row: NotificationRow): Offer {
      const offers = [...(perDevice.get(row.deviceId) ?? [])].map((line) => offerTo(line, row))
      return (['taken', 'coming', 'had'] as const).find((one) => offers.includes(one)) ?? 'none'
    },
  }
}
export type Lines = ReturnType<typeof createLines>
