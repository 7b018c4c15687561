import { randomToken, sha256 } from '../../kit/crypto.ts'

const LIFETIME_MS = 30_000

export type DesktopTickets = ReturnType<typeof createDesktopTickets>

/** Single-use tickets by which the desktop window signs in; asked for over the control channel, never over HTTP. */
export function createDesktopTickets(now: () => number = Date.now) {
  const open = new Map<string, number>()
  return {
    issue(): string {
      for (const [hash, until] of open) if (until < now()) open.delete(hash)
      const ticket = randomToken()
      open.set(sha256(ticket), now() + LIFETIME_MS)
      return ticket
    },
    /** Whether the ticket was good; it is not any more. */
    redeem(ticket: string): boolean {
      const hash = sha256(ticket)
      const until = open.get(hash)
      open.delete(hash)
      return until !== undefined && until >= now()
    },
  }
}
