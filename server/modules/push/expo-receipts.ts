import { z } from 'zod'
import type { PushTarget } from '../notifications/pushers.ts'

/** Of tickets and receipts, all that matters. */
export const ExpoVerdict = z.object({
  status: z.enum(['ok', 'error']),
  id: z.string().optional().catch(undefined),
  details: z
    .object({ error: z.string().optional().catch(undefined) })
    .optional()
    .catch(undefined),
})

/** Expo has them for about a day. */
const KEPT_MS = 86_400_000
const MAX_KEPT = 10_000
/** As many as Expo answers at once. */
const SLICE = 300

export interface ExpoReceiptsDeps {
  /** Receipts by ticket, as the gateway sent them. */
  ask(ids: string[]): Promise<Record<string, unknown>>
  onDeadToken(device: PushTarget): void
  onFailed(error: unknown): void
  /** From a ticket to its receipt, and from one look to the next. */
  afterMs: number
}

export type ExpoReceipts = ReturnType<typeof createExpoReceipts>

/**
 * Looks some minutes later at what became of what Expo took: only then a phone is known to be gone. Kept in memory; what a restart
 * forgets is found out by the next notification.
 */
export function createExpoReceipts({ ask, onDeadToken, onFailed, afterMs }: ExpoReceiptsDeps) {
  const tickets = new Map<string, { device: PushTarget; at: number }>()
  let timer: NodeJS.Timeout | undefined
  let stopped = false

  function arm(): void {
    if (timer || stopped || tickets.size === 0) return
    timer = setTimeout(() => {
      void look()
        .catch(onFailed)
        .finally(() => {
          timer = undefined
          arm()
        })
    }, afterMs)
    timer.unref()
  }

  function take(id: string, answer: unknown): void {
    const ticket = tickets.get(id)
    const verdict = ExpoVerdict.safeParse(answer)
    if (!ticket || !verdict.success) return
    tickets.delete(id)
    if (verdict.data.details?.error === 'DeviceNotRegistered') onDeadToken(ticket.device)
    else if (verdict.data.status === 'error') onFailed(new Error(`A phone’s own push service refused: ${verdict.data.details?.error}`))
  }

  async function look(): Promise<void> {
    const now = performance.now()
    const due = [...tickets].filter(([, { at }]) => now - at >= afterMs)
    for (const [id, { at }] of due) if (now - at > KEPT_MS) tickets.delete(id)
    const ids = due.map(([id]) => id).filter((id) => tickets.has(id))
    for (let from = 0; from < ids.length && !stopped; from += SLICE) {
      const slice = ids.slice(from, from + SLICE)
      const answer = await ask(slice)
      for (const id of slice) if (Object.hasOwn(answer, id)) take(id, answer[id])
    }
  }

  return {
    keep(id: string, device: PushTarget): void {
      tickets.set(id, { device, at: performance.now() })
      if (tickets.size > MAX_KEPT) for (const oldest of tickets.keys().take(1)) tickets.delete(oldest)
      arm()
    },
    stop(): void {
      stopped = true
      clearTimeout(timer)
    },
  }
}
