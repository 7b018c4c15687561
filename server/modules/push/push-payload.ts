import type { NotificationMessage } from '../notifications/pushers.ts'

/** What nobody fetched is given up by the gateways after so long; as long as Hearth itself goes on delivering it. */
export const KEPT_SECONDS = 7 * 86_400
const MAX_DATA_BYTES = 1_000

const bytesOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value))

/** Whether a phone that sleeps is woken up for it; what was to be remembered at a time is nothing worth an hour later. */
export const isUrgent = ({ level, category }: Pick<NotificationMessage, 'level' | 'category'>): boolean =>
  level !== 'info' || category === 'REMINDER'

/**
 * The notification as far as `maxBytes` reach for what `write` makes of it: long data stays behind, which the device can ask for, then the
 * end of the body.
 */
export function fitting<T>(notification: NotificationMessage, maxBytes: number, write: (notification: NotificationMessage) => T): T {
  const whole = write(notification)
  if (bytesOf(whole) <= maxBytes) return whole
  const { data = {}, ...rest } = notification
  const base = bytesOf(data) <= MAX_DATA_BYTES ? { ...rest, data } : rest
  const characters = Array.from(notification.body)
  const shortened = (kept: number) => {
    const body = kept === characters.length ? notification.body : `${characters.slice(0, kept).join('').trimEnd()}…`
    return write({ ...base, body })
  }
  let [low, high] = [0, characters.length]
  while (low < high) {
    const middle = Math.ceil((low + high) / 2)
    if (bytesOf(shortened(middle)) <= maxBytes) low = middle
    else high = middle - 1
  }
  return shortened(low)
}
