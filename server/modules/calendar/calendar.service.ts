import { randomUUID } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import type { z } from 'zod'
import type { Database, Transaction } from '../../db/database.ts'
import { AppError, conflict, invalid, notFound } from '../../kit/errors.ts'
import type { EventBus } from '../../kit/events.ts'
import type { Pace } from '../../kit/pace.ts'
import type { HouseholdService } from '../household/household.service.ts'
import { birthdaysBetween, findBirthday } from './birthdays.ts'
import { type CalendarEvent, calendarChanged, type calendarContract, calendarEventCreated } from './calendar.contract.ts'
import { type CalendarEventRow, CalendarEventTable, SubscriptionTable } from './calendar.table.ts'
import { eventSeries, eventsOnce, toEvent } from './event-rows.ts'
import { meant, movedEnd, readRecurrence, spanIn } from './event-times.ts'
import { beginsAt, comesStill, excludedKey, firstSpan, lastEndOf, movedExclusions, occurrencesOf, shownExclusions } from './occurrences.ts'
import { storedEvents } from './stored-events.ts'

const DAY_MS = 86_400_000
const USUAL_DAYS = 31
const MAX_DAYS = 400
/** Of one list, the earliest. */
const MAX_OCCURRENCES = 2_000
export const MAX_EXCLUDED = 1_000
/** So far ahead the next occurrence of one series is looked for. */
const NEXT_DAYS = 40 * 366
/** Of the years that have four digits. */
const FIRST_MS = Date.parse('0000-01-01T00:00:00.000Z')
const LAST_MS = Date.parse('9999-12-31T23:59:59.999Z')
const TRIES = 5

export type NewEvent = z.output<typeof calendarContract.create.body>
export type EventChanges = z.output<typeof calendarContract.update.body>

/** What of a series is told only when it is taken out, so that it can come back as it was. */
export interface SeriesDetails {
  /** Zone in which it is counted. */
  timezone: string
  /** Starts of the occurrences that were taken out. */
  excluded: string[]
}

type GivenSeries = { [Key in keyof SeriesDetails]?: SeriesDetails[Key] | undefined }

/** A series as it was before all of it was taken out. */
export type RemovedSeries = SeriesDetails & Pick<CalendarEvent, 'startAt' | 'endAt'>

export interface CalendarDeps {
  db: Database
  household: HouseholdService
  events: EventBus
  pace: Pace
}

export type CalendarService = ReturnType<typeof createCalendarService>

const byTime = (a: CalendarEvent, b: CalendarEvent) => (a.startAt < b.startAt ? -1 : a.startAt > b.startAt ? 1 : a.id < b.id ? -1 : 1)

const iso = (ms: number) => new Date(ms).toISOString()

const busy = () => conflict('conflict', 'This event is being changed by others at the moment.')

/** The time that a list is about. Throws 400. */
function readRange({ from, to }: { from?: string | undefined; to?: string | undefined }): { from: string; to: string } {
  const now = iso(Date.now())
  const isNear = to === undefined || (to >= now && Date.parse(to) - Date.parse(now) <= MAX_DAYS * DAY_MS)
  const start = from ?? (isNear ? now : iso(Math.max(Date.parse(to) - USUAL_DAYS * DAY_MS, FIRST_MS)))
  const end = to ?? iso(Math.min(Date.parse(start) + USUAL_DAYS * DAY_MS, LAST_MS))
  if (end < start) throw invalid([{ path: 'query.to', message: 'is before from' }])
  if (Date.parse(end) - Date.parse(start) > MAX_DAYS * DAY_MS)
    throw invalid([{ path: 'query.to', message: `is more than ${MAX_DAYS} days after from` }])
  return { from: start, to: end }
}

/** Keeps the earliest occurrences of many, and knows from when on none is wanted any more. */
function createCollector(end: string) {
  let found: CalendarEvent[] = []
  let to = end
  return {
    to: () => to,
    add(event: CalendarEvent): void {
      found.push(event)
      if (found.length < MAX_OCCURRENCES + MAX_OCCURRENCES / 4) return
      found = this.all()
      to = found.at(-1)?.startAt ?? to
    },
    all: () => found.toSorted(byTime).slice(0, MAX_OCCURRENCES),
  }
}

/** The household’s events and what else is shown in its calendar. */
export function createCalendarService({ db, household, events, pace }: CalendarDeps) {
  const zone = () => household.get().household.timezone
  const shown = (row: CalendarEventRow): CalendarEvent => toEvent(row, firstSpan(row, zone()))

  function isSeen({ subscriptionId, generation }: CalendarEventRow): boolean {
    return subscriptionId === null || db.get(SubscriptionTable, subscriptionId)?.generation === generation
  }

  function mustGetOwn(id: string): CalendarEventRow {
    const row = db.get(CalendarEventTable, id)
    if (row && row.subscriptionId === null) return row
    const { persons } = household.get()
    if (row ? isSeen(row) : findBirthday(persons, id, zone())) {
      throw conflict(
        'read_only',
        row ? 'This event comes from another calendar and can be changed there.' : 'Birthdays come from the household’s page.',
      )
    }
    throw notFound('This event')
  }

  function checkPerson(personId: string | null | undefined): void {
    if (personId && !household.person(personId)) throw invalid([{ path: 'body.personId', message: 'is nobody of this household' }])
  }

  const announce = (tx: Transaction) => tx.afterCommit(() => events.publish(calendarChanged, {}))

  /** The row after a change, without the end of its last occurrence. */
  function changed(row: CalendarEventRow, changes: EventChanges): CalendarEventRow {
    const here = zone()
    const before = shown(row)
    const { allDay = before.allDay } = changes
    const startAt = changes.startAt === undefined ? before.startAt : meant(here, changes.startAt, allDay, 'startAt')
    const givenEnd = changes.endAt === undefined ? undefined : meant(here, changes.endAt, allDay, 'endAt')
    const isMoved = startAt !== before.startAt || allDay !== before.allDay
    const endAt = givenEnd ?? (startAt === before.startAt ? before.endAt : movedEnd(before, startAt, here))
    const recurrence = changes.recurrence === undefined ? row.recurrence : readRecurrence(changes.recurrence)
    const after: CalendarEventRow = {
      ...row,
      title: changes.title ?? row.title,
      ...spanIn(here, { startAt, endAt, allDay }),
      allDay,
      location: changes.location === undefined ? row.location : changes.location || null,
      notes: changes.notes === undefined ? row.notes : changes.notes || null,
      personId: changes.personId === undefined ? row.personId : changes.personId,
      recurrence,
      timezone: isMoved || allDay ? here : row.timezone,
      updatedAt: iso(Date.now()),
    }
    return { ...after, excluded: recurrence === row.recurrence ? movedExclusions(row, after) : [] }
  }

  /** The starts that stay taken out with one more. Throws 404 where no occurrence begins then, 409 where there are too many. */
  function without(row: CalendarEventRow, occurrence: string): string[] {
    const here = zone()
    if (!beginsAt(row, occurrence, here)) throw notFound('This occurrence')
    if (row.excluded.length >= MAX_EXCLUDED)
      throw conflict('conflict', 'Too many occurrences of this event were taken out. Make it a new one.')
    return [...row.excluded, excludedKey(row, occurrence, here)]
  }

  /** An event as it is first kept, whose person was checked. */
  async function newRow({ allDay = false, ...given }: NewEvent, series: GivenSeries = {}): Promise<CalendarEventRow> {
    const at = iso(Date.now())
    const here = zone()
    const row: CalendarEventRow = {
      id: randomUUID(),
      title: given.title,
      ...spanIn(here, {
        startAt: meant(here, given.startAt, allDay, 'startAt'),
        endAt: given.endAt === undefined ? undefined : meant(here, given.endAt, allDay, 'endAt'),
        allDay,
      }),
      allDay,
      location: given.location || null,
      notes: given.notes || null,
      personId: given.personId ?? null,
      recurrence: readRecurrence(given.recurrence),
      timezone: allDay ? here : (series.timezone ?? here),
      excluded: [],
      lastEndAt: null,
      subscriptionId: null,
      generation: 0,
      createdAt: at,
      updatedAt: at,
    }
    const excluded = row.recurrence === null ? [] : (series.excluded ?? []).map((startAt) => excludedKey(row, startAt, here))
    return { ...row, excluded, lastEndAt: await lastEndOf(row) }
  }

  function insert(tx: Transaction, row: CalendarEventRow): void {
    tx.insert(CalendarEventTable, row)
    announce(tx)
    tx.afterCommit(() => events.publish(calendarEventCreated, { eventId: row.id, title: row.title, startAt: row.startAt }))
  }

  /**
   * Takes one occurrence out of a series, and with the last one the series; resolves to the series as it was, if it is no more. Throws 404,
   * and 409 for what cannot be changed here.
   */
  async function takeOut(id: string, occurrence: string, also: (tx: Transaction) => void): Promise<CalendarEventRow | null> {
    for (let tries = 0; tries < TRIES; tries += 1) {
      const before = mustGetOwn(id)
      if (before.recurrence === null) throw notFound('This occurrence')
      const excluded = without(before, occurrence)
      const isLeft = await comesStill({ ...before, excluded }, zone(), pace)
      const isWritten = await db.write((tx) => {
        if (!isDeepStrictEqual(mustGetOwn(id), before)) return false
        if (isLeft) tx.update(CalendarEventTable, id, { excluded, updatedAt: iso(Date.now()) })
        else tx.remove(CalendarEventTable, { id })
        also(tx)
        return true
      })
      if (isWritten) return isLeft ? null : before
    }
    throw busy()
  }

  const removedSeries = (row: CalendarEventRow): RemovedSeries => {
    const here = zone()
    return { ...firstSpan(row, here), timezone: row.timezone, excluded: shownExclusions(row, here) }
  }

  type Found = ReturnType<typeof createCollector>

  /** Adds what comes once; such events are read by time, so that there is an end when no later one is wanted. */
  async function addOnce(found: Found, from: string, to: string): Promise<void> {
    for (const row of eventsOnce(db, from, to)) {
      if (row && Date.parse(row.startAt) > Date.parse(found.to()) + DAY_MS) break
      for (const span of row ? occurrencesOf(row, from, to, zone()) : []) if (row && span) found.add(toEvent(row, span))
      await pace()
    }
  }

  async function addSeries(found: Found, from: string, to: string): Promise<void> {
    for (const row of eventSeries(db, from, to)) {
      for (const span of row ? occurrencesOf(row, from, found.to(), zone()) : []) {
        if (span && span.startAt >= found.to()) break
        if (row && span) found.add(toEvent(row, span))
        await pace()
      }
      await pace()
    }
  }

  return {
    /** In order of time, the first 2,000. Throws 400 for a time of over 400 days. */
    async list(range: { from?: string | undefined; to?: string | undefined }): Promise<CalendarEvent[]> {
      const { from, to } = readRange(range)
      const found = createCollector(to)
      await addOnce(found, from, to)
      await addSeries(found, from, to)
      for (const event of birthdaysBetween(household.get().persons, from, to, zone())) found.add(event)
      return found.all()
    },

    /**
     * Each event once, as it begins, in order of time; birthdays come by time alone. Of more than 2,000 those of other calendars go first,
     * then what is over, the oldest first, then what is furthest ahead.
     */
    async stored(): Promise<CalendarEvent[]> {
      const found: CalendarEvent[] = []
      for (const row of await storedEvents(db, { now: iso(Date.now()), limit: MAX_OCCURRENCES, pace })) {
        found.push(shown(row))
        await pace()
      }
      return found.toSorted(byTime)
    },

    /** Throws 404. */
    get(id: string): CalendarEvent {
      const row = db.get(CalendarEventTable, id)
      const event = row && isSeen(row) ? shown(row) : findBirthday(household.get().persons, id, zone())
      if (!event) throw notFound('This event')
      return event
    },

    /** Of a series the occurrence that goes on at `from`, or the next one until `to`; else the event as it begins. Throws 404. */
    async next(id: string, { from, to }: { from?: string | undefined; to?: string | undefined } = {}): Promise<CalendarEvent> {
      const row = db.get(CalendarEventTable, id)
      if (!row?.recurrence || !isSeen(row)) return this.get(id)
      const since = from ?? iso(Date.now())
      const until = to ?? iso(Math.min(Date.parse(since) + NEXT_DAYS * DAY_MS, LAST_MS))
      for (const span of occurrencesOf(row, since, until, zone())) {
        if (span && span.startAt >= until) break
        if (span) return toEvent(row, span)
        await pace()
      }
      throw new AppError(404, 'not_found', `${row.title} does not come again then.`)
    },

    /** Throws 400. */
    async create(given: NewEvent, series?: GivenSeries): Promise<CalendarEvent> {
      checkPerson(given.personId)
      const row = await newRow(given, series)
      await db.write((tx) => insert(tx, row))
      return shown(row)
    },

    /** Throws 404, 400, and 409 for what cannot be changed here. */
    async update(id: string, changes: EventChanges): Promise<CalendarEvent> {
      for (let tries = 0; tries < TRIES; tries += 1) {
        const before = mustGetOwn(id)
        if (changes.personId !== before.personId) checkPerson(changes.personId)
        const after = changed(before, changes)
        after.lastEndAt = await lastEndOf(after)
        const isWritten = await db.write((tx) => {
          if (!isDeepStrictEqual(mustGetOwn(id), before)) return false
          tx.update(CalendarEventTable, id, after)
          announce(tx)
          return true
        })
        if (isWritten) return shown(after)
      }
      throw busy()
    },

    /**
     * All of it, or the one occurrence that begins then, with the last one all of it too; resolves to the series that is no more, if it was one. Throws 404, and 409 for what
     * cannot be changed here.
     */
    async remove(id: string, occurrence?: string): Promise<RemovedSeries | null> {
      if (occurrence !== undefined && mustGetOwn(id).recurrence !== null) {
        const gone = await takeOut(id, occurrence, announce)
        return gone && removedSeries(gone)
      }
      return db.write((tx) => {
        const row = mustGetOwn(id)
        if (occurrence !== undefined && !beginsAt(row, occurrence, zone())) throw notFound('This occurrence')
        announce(tx)
        tx.remove(CalendarEventTable, { id })
        return row.recurrence === null ? null : removedSeries(row)
      })
    },

    /**
     * Makes one occurrence of a series an event of its own at another time, in one write. Throws 404, 400, and 409 for what cannot be
     * changed here.
     */
    async moveOccurrence(occurrence: CalendarEvent, times: EventChanges): Promise<CalendarEvent> {
      const { id } = occurrence
      const { title, location, notes, personId } = mustGetOwn(id)
      const here = zone()
      const { allDay = occurrence.allDay } = times
      const startAt = times.startAt === undefined ? occurrence.startAt : meant(here, times.startAt, allDay, 'startAt')
      const endAt = times.endAt ?? (startAt === occurrence.startAt ? occurrence.endAt : movedEnd(occurrence, startAt, here))
      const alone = await newRow({ title, location, notes, personId, startAt, endAt, allDay })
      await takeOut(id, occurrence.startAt, (tx) => insert(tx, alone))
      return shown(alone)
    },
  }
}
