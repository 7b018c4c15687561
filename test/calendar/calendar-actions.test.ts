import { randomUUID } from 'node:crypto'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import type { ActionResult } from '../../server/kit/actions.ts'
import type { ToolCall } from '../../server/modules/chat/chat.contract.ts'
import type { AnswerHelp } from '../../server/modules/understanding/answers/answer.ts'
import { undoAnswers } from '../../server/modules/understanding/answers/undo.ts'
import { runAs } from '../support/action-calls.ts'
import { makeFamily } from '../support/family.ts'
import { type Browser, type House, startHouse } from '../support/house.ts'
import { type Endpoint, listen } from '../support/listener.ts'

const DAY_MS = 86_400_000

let house: House
let ada: Browser
let outside: Endpoint
let run: ReturnType<typeof runAs>
beforeAll(async () => {
  house = await startHouse({ env: { SERVICE_FETCH_ALLOW_LOCAL: '1' } })
  ada = (await makeFamily(house, 'Etc/UTC')).owner
  outside = await listen(() => undefined)
  run = runAs(house, { deviceId: randomUUID() })
})
afterAll(async () => {
  await house[Symbol.asyncDispose]()
  await outside[Symbol.asyncDispose]()
})
afterEach(async () => {
  for (const { id } of await ada.api.calendar.subscriptions()) await ada.api.calendar.unsubscribe({ params: { id } })
  for (const { id, kind } of await ada.api.calendar.list({ query: {} }))
    if (kind === 'event') await ada.api.calendar.remove({ params: { id }, query: {} })
})

async function liveIn(timezone: string): Promise<void> {
  const { household, persons } = await ada.api.household.get()
  const { id: _, ...settings } = household
  await ada.api.household.replace({ body: { ...settings, timezone, persons: persons.map(({ id, displayName }) => ({ id, displayName })) } })
}

/** So many days from now at that time of UTC. */
const at = (days: number, time: string) => `${new Date(Date.now() + days * DAY_MS).toISOString().slice(0, 10)}T${time}:00.000Z`
const list = (from: string, to: string) => ada.api.calendar.list({ query: { from, to } })
const startsOf = async (title: string, days: number) =>
  (await list(at(-days, '00:00'), at(days, '00:00'))).filter((event) => event.title === title).map(({ startAt }) => startAt)
const create = (title: string, startAt: string, recurrence?: string) => ada.api.calendar.create({ body: { title, startAt, recurrence } })

test('an occurrence is moved as a whole: out of its series and to its new time', async () => {
  await create('Choir', at(1, '19:00'), 'FREQ=DAILY;COUNT=3')
  const moved = await run('move_event', { title: 'Choir', time: '21:30' })
  expect(moved.data).toMatchObject({ startAt: at(1, '21:30'), endAt: at(1, '22:30'), before: { startAt: at(1, '19:00') } })
  expect(await startsOf('Choir', 9)).toEqual([at(1, '21:30'), at(2, '19:00'), at(3, '19:00')])
})

test('an occurrence that is moved to a later moment lasts as long as before', async () => {
  const { id } = await create('Course', at(1, '08:00'), 'FREQ=DAILY;COUNT=2')
  const { data } = await run('move_event', { title: 'Course', startAt: at(1, '17:00') })
  expect(data).toMatchObject({ startAt: at(1, '17:00'), endAt: at(1, '18:00') })
  expect((data as { id: string }).id).not.toBe(id)
})

test('what comes from another calendar or the household’s page is not moved, nor doubled', async () => {
  const day = at(1, '09:00').slice(0, 10).replaceAll('-', '')
  const yoga = ['BEGIN:VEVENT', 'UID:1', 'SUMMARY:Yoga class', `DTSTART:${day}T090000Z`, 'RRULE:FREQ=WEEKLY', 'END:VEVENT']
  outside.handle = (_req, res) => void res.end(['BEGIN:VCALENDAR', ...yoga, 'END:VCALENDAR'].join('\r\n'))
  await ada.api.calendar.subscribe({ body: { name: 'Sports', url: `${outside.url}/cal.ics` } })
  const before = await startsOf('Yoga class', 20)
  expect(before).toHaveLength(3)
  await expect(run('move_event', { title: 'Yoga class', time: '15:00' })).rejects.toMatchObject({ status: 409, code: 'read_only' })
  expect(await startsOf('Yoga class', 20)).toEqual(before)
})

test('of a series that is named by its id the next occurrence is taken out or moved, and all of it with “all”', async () => {
  const { id } = await create('Bins', at(-100, '23:30'), 'FREQ=DAILY')
  const coming = await ada.api.calendar.list({ query: { from: new Date().toISOString(), to: at(4, '00:00') } })
  const [first = '', second = '', third = ''] = coming.map(({ startAt }) => startAt)
  expect((await run('remove_event', { id })).data).toMatchObject({ id, startAt: first, occurrenceOnly: true })
  expect((await run('remove_event', { id })).data).toMatchObject({ id, startAt: second, occurrenceOnly: true })
  expect((await run('move_event', { id, time: '12:00' })).data).toMatchObject({ before: { startAt: third } })
  const past = at(-50, '23:30')
  expect((await run('remove_event', { id, from: past })).data).toMatchObject({ startAt: past })
  expect((await run('remove_event', { id, all: true })).data).toMatchObject({ startAt: at(-100, '23:30'), occurrenceOnly: false })
  await expect(run('remove_event', { id })).rejects.toMatchObject({ status: 404 })
})

test('of a series that is over no occurrence is taken out', async () => {
  const { id } = await create('Course', at(-9, '10:00'), 'FREQ=DAILY;COUNT=3')
  await expect(run('remove_event', { id })).rejects.toMatchObject({ status: 404, message: 'Course does not come again then.' })
  expect(await startsOf('Course', 20)).toHaveLength(3)
})

/** Takes back an action that was done, as “undo” does after it. */
async function undo(name: string, params: Record<string, unknown>, { data, output }: ActionResult): Promise<void> {
  const call: ToolCall = { id: randomUUID(), name, params, status: 'done', output, data: JSON.parse(JSON.stringify(data)) }
  const help = { lastCalls: [[call]], has: () => true, run, told: () => '', speech: { say: (key: string) => key } }
  await undoAnswers.undo?.({}, help as unknown as AnswerHelp)
}

test.each([
  ['at a time', false, 'Europe/Berlin'],
  ['of whole days', true, 'Europe/Berlin'],
  ['of whole days, in a house that moved,', true, 'America/New_York'],
  ['at a time, in a house that moved,', false, 'America/New_York'],
])('a series %s that was taken out whole comes back as it was, its past and its gaps too', async (_, allDay, zoneAfter) => {
  await liveIn('Europe/Berlin')
  const startAt = at(-40, '10:00')
  const made = await ada.api.calendar.create({
    body: { title: 'Swimming', startAt, allDay, recurrence: 'FREQ=DAILY;COUNT=60', location: 'Pool' },
  })
  const planned = await startsOf('Swimming', 50)
  for (const occurrence of [planned[3], planned[44]]) await ada.api.calendar.remove({ params: { id: made.id }, query: { occurrence } })
  await liveIn(zoneAfter)
  const before = await startsOf('Swimming', 50)
  expect(before).toHaveLength(58)
  const params = { title: 'Swimming', all: true }
  const removed = await run('remove_event', params)
  expect(await startsOf('Swimming', 50)).toEqual([])
  await undo('remove_event', params, removed)
  expect(await startsOf('Swimming', 50)).toEqual(before)
  expect((await ada.api.calendar.list({ query: {} })).find(({ title }) => title === 'Swimming')).toMatchObject({
    location: 'Pool',
    recurrence: made.recurrence,
  })
  await liveIn('Etc/UTC')
})

test('the last occurrence that is taken out takes the series along, of which is said no more, and comes back', async () => {
  const { id } = await create('Swim', at(1, '10:00'), 'FREQ=DAILY;COUNT=2')
  const first = await run('remove_event', { id })
  expect(first.output).toContain('It comes again after that.')
  const last = await run('remove_event', { id })
  expect(last.output).not.toContain('again')
  expect(last.data).toMatchObject({ occurrenceOnly: false })
  expect(await startsOf('Swim', 20)).toEqual([])
  expect((await ada.fetch(`/api/calendar/${id}`)).status).toBe(404)
  await undo('remove_event', { id }, last)
  expect(await startsOf('Swim', 20)).toEqual([at(2, '10:00')])
})

test('an occurrence that was taken out comes back alone', async () => {
  const { id } = await create('Run', at(-3, '23:30'), 'FREQ=DAILY;COUNT=9')
  const before = await startsOf('Run', 20)
  const removed = await run('remove_event', { id })
  expect(await startsOf('Run', 20)).toHaveLength(8)
  await undo('remove_event', { id }, removed)
  expect(await startsOf('Run', 20)).toEqual(before)
})
