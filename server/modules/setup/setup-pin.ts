import { randomInt } from 'node:crypto'
import { sameSecret } from '../../kit/crypto.ts'
import { AppError, rateLimited } from '../../kit/errors.ts'

const WRONG_TRIES = 5
const PAUSE_MS = 60_000

export type SetupPin = ReturnType<typeof createSetupPin>

/** The one-time PIN that proves whoever sets this Hearth up can read its log. `announce` prints each new one. */
export function createSetupPin(announce: (pin: string) => void, now: () => number = () => performance.now()) {
  let pin = ''
  let wrong = 0
  let closedUntil = Number.NEGATIVE_INFINITY

  function renew(): void {
    pin = String(randomInt(1_000_000)).padStart(6, '0')
    wrong = 0
    announce(pin)
  }

  return {
    start: renew,
    current: () => pin,
    /** Throws 401 `wrong_pin`, and after five wrong ones 429 for a minute, while a new PIN is printed. */
    check(given: string): void {
      if (now() < closedUntil) throw rateLimited((closedUntil - now()) / 1000)
      if (pin !== '' && sameSecret(given, pin)) return
      wrong += 1
      if (wrong >= WRONG_TRIES) {
        closedUntil = now() + PAUSE_MS
        renew()
      }
      throw new AppError(401, 'wrong_pin', 'This is not the PIN in the log.')
    },
  }
}
