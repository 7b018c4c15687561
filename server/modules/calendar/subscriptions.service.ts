import { randomUUID } from 'node:crypto'
import type { Database } from '../../db/database.ts'
import { AppError, conflict, notFound } from '../../kit/errors.ts'
import type { EventBus } from '../../kit/events.ts'
import type { GuardedFetch, GuardedResponse } from '../../kit/guarded-fetch.ts'
import { createWakeUp } from '../../kit/wake-up.ts'
import type { HouseholdService } from '../household/household.service.ts'
import { calendarChanged, type Subscription } from './calendar.contract.ts'
import { CalendarEventTable, type SubscriptionRow, SubscriptionTable } from './calendar.table.ts'
import { IcsError } from './ics-blocks.ts'
import { type OutsideCalendar, readIcs } from './ics-reader.ts'

const HOUR_MS = 3_600_000
const MAX_BYTES = 5 * 1024 * 1024
const MAX_SUBSCRIPTIONS = 50
/** Written or removed in one go, in few milliseconds. */
const CHUNK = 100
/** After a failure it is tried again soon, then ever more seldom. */
const FIRST_RETRY_MS = HOUR_MS / 4
const LAST_RETRY_MS = 12 * HOUR_MS

export interface SubscriptionsDeps {
  db: Database
  household: HouseholdService
  events: EventBus
  fetch: GuardedFetch
  onFailed(error: unknown): void
}

export type SubscriptionsService = ReturnType<typeof createSubscriptionsService>

const toSubscription = ({ id, name, url, refreshedAt, error, events }: SubscriptionRow): Subscription => ({
  id,
  name,
  url,
  refreshedAt,
  error,
  events,
})

const iso = (ms: number) => new Date(ms).toISOString()

/** The same for the same calendar, by whichever protocol. */
const addressOf = (url: string) => new URL(url.replace(/^(?:webcal|http):/i, 'https:')).href.replace(/#.*$/, '')

type Fetched = OutsideCalendar & Pick<SubscriptionRow, 'etag' | 'lastModified'>

const cut = (header: string | undefined) => (header === undefined || header.length > 500 ? null : header)

/** Why a refresh failed, in plain words. */
function wordsFor(error: AppError): string {
  if (error.code === 'address_blocked') return 'Its address is this machine’s, or leads from the internet into the home network.'
  return error.message
}

/** Calendars from outside that are shown here, read anew every hour. */
export function createSubscriptionsService({ db, household, events, fetch, onFailed }: SubscriptionsDeps) {
  const running = new Map<string, Promise<void>>()
  const sweeping = new Set<Promise<void>>()
  let stopping = new AbortController()
  const wakeUp = createWakeUp({ nextAt, ring, onFailed })

  const rows = () => db.find(SubscriptionTable, {}, { order: 'createdAt asc' })

  function nextAt(): number | null {
    const [first] = rows().sort((a, b) => (a.refreshAt < b.refreshAt ? -1 : 1))
    return first ? Date.parse(first.refreshAt) : null
  }

  async function ring(): Promise<void> {
    const now = iso(Date.now())
    for (const { id } of rows().filter(({ refreshAt }) => refreshAt <= now)) await refreshed(id)
  }

  /** Throws 409 where the same calendar is shown already. */
  function checkNew(url: string): void {
    const same = rows().find((row) => addressOf(row.url) === addressOf(url))
    if (same) throw conflict('conflict', `This calendar is shown already, as “${same.name}”.`)
  }

  function mustGet(id: string): SubscriptionRow {
    const row = db.get(SubscriptionTable, id)
    if (!row) throw notFound('This calendar')
    return row
  }

  async function read(answer: GuardedResponse): Promise<Fetched> {
    if (answer.status !== 200) throw new AppError(502, 'upstream_failed', `The other server answers with ${answer.status}.`)
    try {
      const calendar = await readIcs({ body: answer.body, zone: household.get().household.timezone }, stopping.signal)
      return { ...calendar, etag: cut(answer.headers.etag), lastModified: cut(answer.headers['last-modified']) }
    } catch (error) {
      if (!(error instanceof IcsError)) throw error
      throw new AppError(502, 'upstream_failed', `What is at this address ${error.message}.`)
    }
  }

  /** What is there now; null where nothing changed since. Throws 403, 502 and 504. */
  async function ask(row: Pick<SubscriptionRow, 'url' | 'etag' | 'lastModified'>): Promise<Fetched | null> {
    const headers = {
      accept: 'text/calendar, */*;q=0.5',
      ...(row.etag && { 'if-none-match': row.etag }),
      ...(row.lastModified && { 'if-modified-since': row.lastModified }),
    }
    const answer = await fetch(row.url, { headers, maxBytes: MAX_BYTES, signal: stopping.signal })
    return answer.status === 304 && (row.etag || row.lastModified) ? null : read(answer)
  }

  /** Writes events down that are not seen before the subscription takes this generation for its own. */
  async function stage(subscriptionId: string, generation: number, calendar: OutsideCalendar): Promise<void> {
    const at = iso(Date.now())
    for (let from = 0; from < calendar.events.length; from += CHUNK) {
      await db.write((tx) => {
        for (const event of calendar.events.slice(from, from + CHUNK))
          tx.insert(CalendarEventTable, {
            ...event,
            id: randomUUID(),
            personId: null,
            subscriptionId,
            generation,
            createdAt: at,
            updatedAt: at,
          })
      })
    }
  }

  const readWell = () => ({ refreshAt: iso(Date.now() + HOUR_MS), refreshedAt: iso(Date.now()), error: null, failures: 0 })

  /** Removes events of other generations than the one that is seen. */
  async function sweep(subscriptionId: string): Promise<void> {
    const stale = `DELETE FROM "calendar_event" WHERE "id" IN (SELECT "id" FROM "calendar_event" WHERE "subscriptionId" = (? || '')
      AND "generation" <> (? + 0) LIMIT ${CHUNK})`
    const sweepSome = () => db.write((tx) => tx.run(stale, [subscriptionId, db.get(SubscriptionTable, subscriptionId)?.generation ?? -1]))
    while ((await sweepSome()) === CHUNK);
  }

  function sweepLater(id: string): void {
    const going = sweep(id)
      .catch(onFailed)
      .finally(() => sweeping.delete(going))
    sweeping.add(going)
  }

  async function exchange(row: SubscriptionRow, fetched: Fetched): Promise<void> {
    const { digest, etag, lastModified } = fetched
    const isSame = digest === row.digest
    const generation = isSame ? row.generation : row.generation + 1
    if (!isSame) {
      await sweep(row.id) // what an earlier try left behind
      await stage(row.id, generation, fetched)
    }
    await db.write((tx) => {
      const changes = { ...readWell(), generation, digest, etag, lastModified, events: fetched.events.length }
      const isThere = tx.update(SubscriptionTable, row.id, changes)
      if (isThere && !isSame) tx.afterCommit(() => events.publish(calendarChanged, {}))
    })
    await sweep(row.id)
  }

  async function fail(row: SubscriptionRow, error: AppError): Promise<void> {
    const waitMs = Math.min(FIRST_RETRY_MS * 2 ** Math.min(row.failures, 20), LAST_RETRY_MS)
    const changes = { error: wordsFor(error), failures: row.failures + 1, refreshAt: iso(Date.now() + waitMs) }
    await db.write((tx) => tx.update(SubscriptionTable, row.id, changes))
  }

  /** Does nothing for one that is gone, before or meanwhile. */
  async function refreshOnce(id: string): Promise<void> {
    const row = db.get(SubscriptionTable, id)
    if (!row) return
    try {
      const fetched = await ask(row)
      if (fetched) await exchange(row, fetched)
      else await db.write((tx) => tx.update(SubscriptionTable, id, readWell()))
    } catch (error) {
      if (stopping.signal.aborted) return // it is asked again after the next start
      if (!(error instanceof AppError)) onFailed(error)
      await fail(row, error instanceof AppError ? error : new AppError(500, 'internal', 'It could not be read.'))
    }
  }

  /** Resolves when a refresh is over, well or not; of two at once both wait for one. */
  function refreshed(id: string): Promise<void> {
    const going =
      running.get(id) ??
      refreshOnce(id).finally(() => {
        running.delete(id)
      })
    running.set(id, going)
    return going
  }

  return {
    list: (): Subscription[] => rows().map(toSubscription),

    /** Throws 403, 502 and 504 where it cannot be read, and 409 where there are too many or it is shown already; nothing is kept then. */
    async add({ name, url }: Pick<Subscription, 'name' | 'url'>): Promise<Subscription> {
      if (rows().length >= MAX_SUBSCRIPTIONS) throw conflict('conflict', `No more than ${MAX_SUBSCRIPTIONS} calendars can be shown.`)
      checkNew(url)
      const at = iso(Date.now())
      const row: SubscriptionRow = {
        id: randomUUID(),
        name,
        url: url.replace(/^webcal:/i, 'https:'),
        refreshedAt: at,
        error: null,
        events: 0,
        generation: 1,
        digest: null,
        etag: null,
        lastModified: null,
        failures: 0,
        refreshAt: iso(Date.now() + HOUR_MS),
        createdAt: at,
      }
      const fetched = await ask(row)
      if (!fetched) throw new AppError(502, 'upstream_failed', 'The other server sends nothing.')
      const { digest, etag, lastModified } = fetched
      const kept = { ...row, digest, etag, lastModified, events: fetched.events.length }
      try {
        await stage(row.id, row.generation, fetched)
        await db.write((tx) => {
          checkNew(row.url) // it may have been added meanwhile
          tx.insert(SubscriptionTable, kept)
          tx.afterCommit(() => events.publish(calendarChanged, {}))
        })
      } catch (error) {
        sweepLater(row.id)
        throw error
      }
      wakeUp.rearm()
      return toSubscription(kept)
    },

    /** Throws 404; what fails is told in the record. */
    async refresh(id: string): Promise<Subscription> {
      mustGet(id)
      await refreshed(id)
      wakeUp.rearm()
      return toSubscription(mustGet(id))
    },

    /** Its events are gone at once. Throws 404. */
    async remove(id: string): Promise<void> {
      const removed = await db.write((tx) => {
        tx.afterCommit(() => events.publish(calendarChanged, {}))
        return tx.remove(SubscriptionTable, { id })
      })
      if (removed === 0) throw notFound('This calendar')
      sweepLater(id)
    },

    async start(): Promise<void> {
      stopping = new AbortController()
      const left = db.select<{ id: string }>(
        'SELECT DISTINCT "subscriptionId" AS "id" FROM "calendar_event" WHERE "subscriptionId" IS NOT NULL',
      )
      for (const { id } of left) sweepLater(id)
      wakeUp.start()
    },

    async stop(): Promise<void> {
      stopping.abort()
      await wakeUp.stop()
      await Promise.allSettled([...running.values(), ...sweeping])
    },
  }
}
