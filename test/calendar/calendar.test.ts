import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { calendarChanged, calendarEventCreated } from '../../server/modules/calendar/calendar.contract.ts'
import { codeOf } from '../support/answers.ts'
import { json } from '../support/credentials.ts'
import { type Browser, type House, startHouse } from '../support/house.ts'

let house: House
let ada: Browser
beforeAll(async () => {
  house = await startHouse()
  ada = await house.residentOwner()
})
afterAll(() => house[Symbol.asyncDispose]())

async function liveIn(timezone: string, persons: object[] = []): Promise<void> {
  const { household, persons: stored } = await ada.api.household.get()
  const owner = stored.find(({ role }) => role === 'owner')
  const { id: _, ...settings } = household
  const body = {
    ...settings,
    timezone,
    mode: 'multi' as const,
    persons: [{ id: owner?.id, displayName: 'Ada', birthDate: null }, ...persons] as { displayName: string }[],
  }
  await ada.api.household.replace({ body })
}

beforeEach(async () => {
  await liveIn('Europe/Berlin')
  const all = ['2025', '2026', '2027', '2028'].map((year) =>
    ada.api.calendar.list({ query: { from: `${year}-01-01T00:00:00Z`, to: `${year}-12-31T23:59:59Z` } }),
  )
  for (const id of new Set((await Promise.all(all)).flat().map((event) => event.id)))
    await ada.api.calendar.remove({ params: { id }, query: {} })
})

const list = async (from: string, to: string) => ada.api.calendar.list({ query: { from, to } })
const starts = async (from: string, to: string) => (await list(from, to)).map(({ startAt }) => startAt)
const post = (body: object) => ada.fetch('/api/calendar', json(body))

test('an event is an hour long unless stated, is told back, changed and deleted, and outlives a restart', async () => {
  const made = await ada.api.calendar.create({
    body: { title: ' Dentist ', startAt: '2026-11-24T15:00:00+01:00', location: 'Main Street', notes: null },
  })
  expect(made).toEqual({
    id: made.id,
    title: 'Dentist',
    startAt: '2026-11-24T14:00:00.000Z',
    endAt: '2026-11-24T15:00:00.000Z',
    allDay: false,
    location: 'Main Street',
    kind: 'event',
  })
  await house.restart()
  expect(await ada.api.calendar.get({ params: { id: made.id } })).toEqual(made)
  expect(await list('2026-11-24T00:00:00Z', '2026-11-25T00:00:00Z')).toEqual([made])
  const moved = await ada.api.calendar.update({ params: { id: made.id }, body: { startAt: '2026-11-25T10:00:00.000Z', location: null } })
  expect(moved).toMatchObject({ startAt: '2026-11-25T10:00:00.000Z', endAt: '2026-11-25T11:00:00.000Z' })
  expect(moved).not.toHaveProperty('location')
  expect(await (await ada.fetch(`/api/calendar/${made.id}`, json(moved, 'PATCH'))).json()).toEqual(moved)
  await ada.api.calendar.remove({ params: { id: made.id }, query: {} })
  expect((await ada.fetch(`/api/calendar/${made.id}`)).status).toBe(404)
  expect((await ada.fetch(`/api/calendar/${made.id}`, { method: 'DELETE' })).status).toBe(404)
})

test('a long list leaves in pieces that are one answer', async () => {
  await ada.api.calendar.create({
    body: { title: 'Ärzte 👩‍⚕️', startAt: '2026-01-01T08:00:00Z', recurrence: 'FREQ=DAILY', notes: 'ü'.repeat(5_000) },
  })
  const path = '/api/calendar?from=2026-01-01T00:00:00Z&to=2026-12-01T00:00:00Z'
  const answer = await ada.fetch(path)
  expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'application/json; charset=utf-8'])
  const found = (await answer.json()) as { title: string; startAt: string; notes: string }[]
  expect(found).toHaveLength(334)
  expect(new Set(found.map(({ startAt }) => startAt)).size).toBe(334)
  expect(found.every(({ title, notes }) => title === 'Ärzte 👩‍⚕️' && notes === 'ü'.repeat(5_000))).toBe(true)
  const head = await ada.fetch(path, { method: 'HEAD' })
  expect([head.status, await head.text()]).toEqual([200, ''])
})

test('what touches the time is listed, in order', async () => {
  for (const [title, startAt, endAt] of [
    ['before', '2026-05-01T08:00:00Z', '2026-05-01T10:00:00Z'],
    ['into', '2026-05-01T08:00:00Z', '2026-05-01T10:00:01Z'],
    ['around', '2026-04-01T08:00:00Z', '2026-06-01T08:00:00Z'],
    ['moment', '2026-05-01T11:00:00Z', '2026-05-01T11:00:00Z'],
    ['after', '2026-05-01T12:00:00Z', '2026-05-01T13:00:00Z'],
  ] as const)
    await ada.api.calendar.create({ body: { title, startAt, endAt } })
  const found = await list('2026-05-01T10:00:00Z', '2026-05-01T12:00:00Z')
  expect(found.map(({ title }) => title)).toEqual(['around', 'into', 'moment'])
})

test.each([
  ['Europe/Berlin', '2026-03-22T08:00:00.000Z', ['2026-03-22T08:00:00.000Z', '2026-03-29T07:00:00.000Z', '2026-04-05T07:00:00.000Z']],
  ['Europe/Berlin', '2026-10-18T07:00:00.000Z', ['2026-10-18T07:00:00.000Z', '2026-10-25T08:00:00.000Z', '2026-11-01T08:00:00.000Z']],
  ['America/New_York', '2026-10-25T13:00:00.000Z', ['2026-10-25T13:00:00.000Z', '2026-11-01T14:00:00.000Z', '2026-11-08T14:00:00.000Z']],
  ['Australia/Lord_Howe', '2026-09-26T22:30:00.000Z', ['2026-09-26T22:30:00.000Z', '2026-10-03T22:00:00.000Z', '2026-10-10T22:00:00.000Z']],
])('nine every week stays nine in %s when the clocks change (%s)', async (zone, startAt, expected) => {
  await liveIn(zone)
  const made = await ada.api.calendar.create({ body: { title: 'Choir', startAt, recurrence: 'RRULE:FREQ=WEEKLY' } })
  expect(made.recurrence).toBe('FREQ=WEEKLY')
  const to = new Date(Date.parse(startAt) + 20 * 86_400_000).toISOString()
  expect(await starts(startAt, to)).toEqual(expected)
  await liveIn('Asia/Tokyo')
  expect(await starts(startAt, to)).toEqual(expected)
})

test('whole days stay on their dates, over the change of clocks and in another zone', async () => {
  const made = await ada.api.calendar.create({
    body: { title: 'Bins', startAt: '2026-03-28T10:00:00Z', allDay: true, recurrence: 'FREQ=DAILY;COUNT=3' },
  })
  expect(made).toMatchObject({ startAt: '2026-03-27T23:00:00.000Z', endAt: '2026-03-28T23:00:00.000Z' })
  const range = ['2026-03-27T00:00:00Z', '2026-04-02T00:00:00Z'] as const
  expect((await list(...range)).map(({ startAt, endAt }) => [startAt, endAt])).toEqual([
    ['2026-03-27T23:00:00.000Z', '2026-03-28T23:00:00.000Z'],
    ['2026-03-28T23:00:00.000Z', '2026-03-29T22:00:00.000Z'],
    ['2026-03-29T22:00:00.000Z', '2026-03-30T22:00:00.000Z'],
  ])
  await ada.api.calendar.remove({ params: { id: made.id }, query: { occurrence: '2026-03-28T23:00:00.000Z' } })
  await liveIn('America/New_York')
  expect(await starts(...range)).toEqual(['2026-03-28T04:00:00.000Z', '2026-03-30T04:00:00.000Z'])
  const echoed = await ada.api.calendar.get({ params: { id: made.id } })
  expect(echoed).toMatchObject({ startAt: '2026-03-28T04:00:00.000Z', endAt: '2026-03-29T04:00:00.000Z' })
  expect(await (await ada.fetch(`/api/calendar/${made.id}`, json(echoed, 'PATCH'))).json()).toEqual(echoed)
  expect(await starts(...range)).toEqual(['2026-03-28T04:00:00.000Z', '2026-03-30T04:00:00.000Z'])
  await ada.api.calendar.remove({ params: { id: made.id }, query: { occurrence: '2026-03-30T04:00:00.000Z' } })
  await liveIn('Pacific/Auckland')
  expect(await starts(...range)).toEqual(['2026-03-27T11:00:00.000Z'])
})

test('an all-day event that is moved keeps its days', async () => {
  const { id } = await ada.api.calendar.create({
    body: { title: 'Fair', startAt: '2026-03-28T00:00:00+01:00', endAt: '2026-03-30T12:00:00Z', allDay: true },
  })
  expect(await ada.api.calendar.update({ params: { id }, body: { startAt: '2026-10-24T09:00:00Z' } })).toMatchObject({
    startAt: '2026-10-23T22:00:00.000Z',
    endAt: '2026-10-26T23:00:00.000Z',
  })
})

test('one occurrence is taken out, only where one begins; moved ones stay out', async () => {
  const { id } = await ada.api.calendar.create({ body: { title: 'Run', startAt: '2026-05-04T05:00:00Z', recurrence: 'FREQ=DAILY' } })
  await ada.api.calendar.remove({ params: { id }, query: { occurrence: '2026-05-05T05:00:00.000Z' } })
  expect((await ada.fetch(`/api/calendar/${id}?occurrence=2026-05-05T05:00:00Z`, { method: 'DELETE' })).status).toBe(404)
  expect((await ada.fetch(`/api/calendar/${id}?occurrence=2026-05-06T06:00:00Z`, { method: 'DELETE' })).status).toBe(404)
  const range = ['2026-05-04T00:00:00Z', '2026-05-07T00:00:00Z'] as const
  expect(await starts(...range)).toEqual(['2026-05-04T05:00:00.000Z', '2026-05-06T05:00:00.000Z'])
  await ada.api.calendar.update({ params: { id }, body: { startAt: '2026-05-04T06:00:00Z' } })
  expect(await starts(...range)).toEqual(['2026-05-04T06:00:00.000Z', '2026-05-06T06:00:00.000Z'])
  await ada.api.calendar.remove({ params: { id }, query: { occurrence: '2026-05-04T06:00:00.000Z' } })
  expect(await starts(...range)).toEqual(['2026-05-06T06:00:00.000Z'])
  const single = await ada.api.calendar.create({ body: { title: 'Once', startAt: '2026-05-04T08:00:00Z' } })
  await ada.api.calendar.remove({ params: { id: single.id }, query: { occurrence: '2026-05-04T08:00:00Z' } })
  expect((await ada.fetch(`/api/calendar/${single.id}`)).status).toBe(404)
})

test('with the last of its occurrences a series is gone, and a rule that goes on is not', async () => {
  const out = (id: string, occurrence: string) => ada.fetch(`/api/calendar/${id}?occurrence=${occurrence}`, { method: 'DELETE' })
  for (const rule of ['FREQ=DAILY;COUNT=3', 'FREQ=DAILY;UNTIL=20260506']) {
    const { id } = await ada.api.calendar.create({ body: { title: 'Course', startAt: '2026-05-04T05:00:00Z', recurrence: rule } })
    expect((await out(id, '2026-05-04T05:00:00Z')).status).toBe(204)
    expect((await out(id, '2026-05-06T05:00:00Z')).status).toBe(204)
    expect((await ada.fetch(`/api/calendar/${id}`)).status).toBe(200)
    const last = await Promise.all([out(id, '2026-05-05T05:00:00Z'), out(id, '2026-05-05T05:00:00Z')])
    expect(last.map(({ status }) => status).toSorted()).toEqual([204, 404])
    expect((await ada.fetch(`/api/calendar/${id}`)).status).toBe(404)
  }
  const body = { title: 'Days', startAt: '2026-05-04', allDay: true, recurrence: 'FREQ=DAILY;COUNT=2' }
  const days = await ada.api.calendar.create({ body })
  for (const day of ['2026-05-04', '2026-05-05']) {
    const [event] = await ada.api.calendar.list({ query: { from: `${day}T10:00:00Z`, to: `${day}T11:00:00Z` } })
    expect((await out(days.id, event?.startAt ?? '')).status).toBe(204)
  }
  expect((await ada.fetch(`/api/calendar/${days.id}`)).status).toBe(404)
})

test.each([
  ['FREQ=DAILY;COUNT=3', 3],
  ['FREQ=DAILY;UNTIL=20260503', 3],
  ['COUNT=400;FREQ=WEEKLY', 52],
  ['FREQ=HOURLY;COUNT=5000', 2_000],
  ['FREQ=DAILY;BYMONTH=2;BYMONTHDAY=30', 1],
  ['FREQ=YEARLY;COUNT=5000', 1],
])('%s has its number of occurrences within a year', async (recurrence, count) => {
  const { id } = await ada.api.calendar.create({ body: { title: 'Again', startAt: '2026-05-01T08:00:00Z', recurrence } })
  expect(await list('2026-05-01T00:00:00Z', '2027-04-30T00:00:00Z')).toHaveLength(count)
  await ada.api.calendar.remove({ params: { id }, query: {} })
})

test('what is over long ago is not counted', async () => {
  await ada.api.calendar.create({ body: { title: 'Over', startAt: '2001-05-01T08:00:00Z', recurrence: 'FREQ=DAILY;COUNT=10' } })
  await ada.api.calendar.create({ body: { title: 'For ever', startAt: '1950-05-01T08:00:00Z', recurrence: 'FREQ=WEEKLY;INTERVAL=2' } })
  expect((await list('2026-05-01T00:00:00Z', '2026-05-15T00:00:00Z')).map(({ title }) => title)).toEqual(['For ever'])
  expect(await list('2001-05-09T00:00:00Z', '2001-05-14T00:00:00Z')).toHaveLength(2)
})

test('the 29th of February comes when it comes', async () => {
  await ada.api.calendar.create({ body: { title: 'Leap', startAt: '2024-02-29T08:00:00Z', recurrence: 'FREQ=YEARLY' } })
  expect(await starts('2027-01-01T00:00:00Z', '2028-01-01T00:00:00Z')).toEqual([])
  expect(await starts('2028-01-01T00:00:00Z', '2028-12-01T00:00:00Z')).toEqual(['2028-02-29T08:00:00.000Z'])
})

test('birthdays come by themselves, with the age where the year is known, and cannot be changed', async () => {
  await liveIn('Europe/Berlin', [
    { displayName: 'Ben', birthDate: '2016-02-29' },
    { displayName: 'Gran', birthDate: '1931-02-28' },
  ])
  const found = await list('2027-02-01T00:00:00Z', '2027-03-10T00:00:00Z')
  expect(found.map(({ title, startAt, kind, allDay }) => ({ title, startAt, kind, allDay }))).toEqual(
    expect.arrayContaining([
      { title: 'Ben’s birthday (11)', startAt: '2027-02-27T23:00:00.000Z', kind: 'birthday', allDay: true },
      { title: 'Gran’s birthday (96)', startAt: '2027-02-27T23:00:00.000Z', kind: 'birthday', allDay: true },
    ]),
  )
  expect(found).toHaveLength(2)
  expect(await starts('2028-02-29T12:00:00Z', '2028-03-10T00:00:00Z')).toEqual(['2028-02-28T23:00:00.000Z'])
  const ben = found.find(({ title }) => title.startsWith('Ben'))
  await house.restart()
  expect(await ada.api.calendar.get({ params: { id: ben?.id ?? '' } })).toMatchObject({
    title: 'Ben’s birthday',
    startAt: '2016-02-28T23:00:00.000Z',
    personId: ben?.personId,
  })
  for (const refused of [
    await ada.fetch(`/api/calendar/${ben?.id}`, json({ title: 'x' }, 'PATCH')),
    await ada.fetch(`/api/calendar/${ben?.id}`, { method: 'DELETE' }),
  ]) {
    expect(refused.status).toBe(409)
    expect(await codeOf(refused)).toBe('read_only')
  }
})

test('of what has a time in it it is said that it is no moment', async () => {
  const said = async (startAt?: string) => {
    const answer = await ada.fetch('/api/calendar', json({ title: 'x', startAt }))
    expect(answer.status).toBe(400)
    return ((await answer.json()) as { details: { path: string; message: string }[] }).details
  }
  expect(await said('2026-02-30T10:00:00Z')).toEqual([{ path: 'body.startAt', message: 'is not a moment like 2026-12-24T18:00:00Z' }])
  expect(await said('2026-02-30')).toEqual([{ path: 'body.startAt', message: 'is not a date like 2026-12-24' }])
  expect(await said()).toEqual([{ path: 'body.startAt', message: 'is missing' }])
})

test('what cannot be is refused with its path', async () => {
  const startAt = '2026-05-01T08:00:00Z'
  const bad: [object, string][] = [
    [{ endAt: '2026-05-01T07:59:59Z' }, 'body.endAt'],
    [{ endAt: '2028-05-01T07:59:59Z' }, 'body.endAt'],
    [{ startAt: '0001-05-01T08:00:00Z' }, 'body.startAt'],
    [{ startAt: '2026-05-01' }, 'body.startAt'],
    [{ title: '  ' }, 'body.title'],
    [{ personId: crypto.randomUUID() }, 'body.personId'],
    ...[
      'FREQ=NEVER',
      'FREQ=SECONDLY',
      'FREQ=MINUTELY',
      'every day',
      'FREQ=DAILY;INTERVAL=0',
      'FREQ=DAILY;COUNT=99999',
      'FREQ=DAILY;UNTIL=tomorrow',
      'FREQ=DAILY\nRRULE:FREQ=DAILY',
      'DTSTART=20260101;FREQ=DAILY',
      'FREQ=DAILY;BYMONTH=13',
      'FREQ=HOURLY;BYMINUTE=0,1,2',
    ].map((recurrence): [object, string] => [{ recurrence }, 'body.recurrence']),
  ]
  for (const [changes, path] of bad) {
    const refused = await post({ title: 'x', startAt, ...changes })
    expect(refused.status, JSON.stringify(changes)).toBe(400)
    expect(((await refused.json()) as { details: { path: string }[] }).details[0]?.path).toBe(path)
  }
  for (const query of [
    'from=2026-01-01T00:00:00Z&to=2025-01-01T00:00:00Z',
    'from=2026-01-01T00:00:00Z&to=2027-03-01T00:00:00Z',
    'from=yesterday',
  ])
    expect((await ada.fetch(`/api/calendar?${query}`)).status, query).toBe(400)
})

test('with one end alone the other is a month away, without either all are told as they are stored', async () => {
  const inDays = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString()
  for (const [title, days] of [
    ['soon', 30],
    ['late', 32],
    ['past', -2],
  ] as const)
    await ada.api.calendar.create({ body: { title, startAt: inDays(days) } })
  const titles = async (query: { from?: string; to?: string }) => (await ada.api.calendar.list({ query })).map(({ title }) => title)
  expect(await titles({ from: inDays(0) })).toEqual(['soon'])
  expect(await titles({})).toEqual(expect.arrayContaining(['past', 'soon', 'late']))
  expect((await ada.api.calendar.list({ query: { to: inDays(-1) } })).map(({ title }) => title)).toEqual(['past'])
})

test('of many occurrences the earliest two thousand are told, and the loop stays free', async () => {
  for (let at = 0; at < 20; at += 1)
    await ada.api.calendar.create({ body: { title: `t${at}`, startAt: `2026-01-01T00:${10 + at}:00Z`, recurrence: 'FREQ=HOURLY' } })
  const found = await list('2026-01-01T00:00:00Z', '2027-01-01T00:00:00Z')
  expect(found).toHaveLength(2_000)
  expect(found.at(-1)?.startAt).toBe('2026-01-05T03:29:00.000Z')
  expect(found.map(({ startAt }) => startAt)).toEqual(found.map(({ startAt }) => startAt).toSorted())
})

test('two changes at once both hold', async () => {
  const { id } = await ada.api.calendar.create({ body: { title: 'a', startAt: '2026-05-01T08:00:00Z', recurrence: 'FREQ=DAILY;COUNT=5' } })
  await Promise.all([
    ada.api.calendar.update({ params: { id }, body: { title: 'b' } }),
    ada.api.calendar.update({ params: { id }, body: { location: 'here' } }),
    ada.api.calendar.remove({ params: { id }, query: { occurrence: '2026-05-02T08:00:00Z' } }),
  ])
  expect(await ada.api.calendar.get({ params: { id } })).toMatchObject({ title: 'b', location: 'here' })
  expect(await starts('2026-05-01T00:00:00Z', '2026-05-03T12:00:00Z')).toEqual(['2026-05-01T08:00:00.000Z', '2026-05-03T08:00:00.000Z'])
})

test('changes are told', async () => {
  const told: unknown[] = []
  const off = [
    house.app.events.on(calendarChanged, () => void told.push('changed')),
    house.app.events.on(calendarEventCreated, (event) => void told.push(event)),
  ]
  const { id } = await ada.api.calendar.create({ body: { title: 'Told', startAt: '2026-05-01T08:00:00Z' } })
  await ada.api.calendar.remove({ params: { id }, query: {} })
  await liveIn('Europe/Paris')
  for (const stop of off) stop()
  expect(told).toEqual(['changed', { eventId: id, title: 'Told', startAt: '2026-05-01T08:00:00.000Z' }, 'changed', 'changed'])
})

test('actions put events into the calendar and tell them in words', async () => {
  const { actions } = house.app
  const caller = {
    kind: 'owner' as const,
    scope: 'admin' as const,
    deviceId: crypto.randomUUID(),
    userId: crypto.randomUUID(),
    personId: null,
    sessionId: 's',
    via: 'cookie' as const,
  }
  const call = { caller, origin: 'chat' as const, signal: new AbortController().signal }
  const at = (days: number, time: string) => `${new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10)}T${time}:00Z`
  await liveIn('Etc/UTC')
  expect((await actions.run('add_event', { title: 'Dentist', startAt: '2027-11-24T15:00:00Z' }, call)).output).toBe(
    'Dentist is on Wednesday 24 November 2027 at 15:00.',
  )
  expect((await actions.run('add_event', { title: 'Choir', startAt: at(1, '19:30'), recurrence: 'FREQ=WEEKLY' }, call)).output).toBe(
    'Choir is tomorrow at 19:30, every week.',
  )
  await actions.run('add_event', { title: 'Fair', startAt: at(1, '00:00'), allDay: true }, call)
  const tomorrow = { from: at(1, '00:00'), to: at(1, '23:59') }
  const told = await actions.run('list_events', tomorrow, call)
  expect(told.output).toBe('Tomorrow: Fair, Choir at 19:30.')
  expect(told.data).toHaveLength(2)
  expect((await actions.run('list_events', { from: at(2, '00:00'), to: at(2, '23:59') }, call)).output).toBe(
    'Nothing is in the calendar then.',
  )
  await expect(actions.run('add_event', { title: 'x', startAt: at(1, '10:00'), recurrence: 'nonsense' }, call)).rejects.toMatchObject({
    status: 400,
  })
  const events = await ada.api.calendar.list({ query: tomorrow })
  for (const { id } of events) await ada.api.calendar.remove({ params: { id }, query: {} })
})

test('without a time a recurring event is told once, in order of the first starts', async () => {
  const weekly = await ada.api.calendar.create({ body: { title: 'Choir', startAt: '2026-03-02T18:00:00Z', recurrence: 'FREQ=WEEKLY' } })
  const once = await ada.api.calendar.create({ body: { title: 'Fair', startAt: '2026-03-01', allDay: true } })
  const stored = await ada.api.calendar.list({ query: {} })
  expect(stored.filter(({ id }) => [weekly.id, once.id].includes(id))).toEqual([once, weekly])
})

test.each(['?to=2099-01-01T00:00:00Z', '?from=9999-12-30T00:00:00Z', '?to=0001-01-01T00:00:00Z', '?from=2099-01-01T00:00:00Z'])(
  'one end alone is never refused: %s',
  async (query) => expect((await ada.fetch(`/api/calendar${query}`)).status).toBe(200),
)

test.each(['Europe/Berlin', 'America/New_York', 'Pacific/Auckland', 'Europe/London', 'UTC'])(
  'of whole days a date, or a midnight of UTC, is that date in %s, and what was told is taken back',
  async (zone) => {
    await liveIn(zone)
    for (const [startAt, endAt] of [
      ['2026-12-24T00:00:00.000Z', '2026-12-25T00:00:00.000Z'],
      ['2026-12-24', '2026-12-25'],
      ['2026-12-24', undefined],
    ]) {
      const answer = await post({ title: 'Christmas Eve', startAt, ...(endAt && { endAt }), allDay: true })
      const made = (await answer.json()) as { id: string; startAt: string; endAt: string }
      const day = (at: string) =>
        new Intl.DateTimeFormat('sv-SE', { timeZone: zone, dateStyle: 'short', timeStyle: 'short' }).format(new Date(at))
      expect([day(made.startAt), day(made.endAt)]).toEqual(['2026-12-24 00:00', '2026-12-25 00:00'])
      expect(await (await ada.fetch(`/api/calendar/${made.id}`, json(made, 'PATCH'))).json()).toEqual(made)
      const moved = await (await ada.fetch(`/api/calendar/${made.id}`, json({ startAt: '2026-12-31' }, 'PATCH'))).json()
      expect([day((moved as typeof made).startAt), day((moved as typeof made).endAt)]).toEqual(['2026-12-31 00:00', '2027-01-01 00:00'])
      await liveIn('Asia/Tokyo')
      const abroad = (await (await ada.fetch(`/api/calendar/${made.id}`)).json()) as typeof made
      expect(abroad.startAt).toBe('2026-12-30T15:00:00.000Z')
      await liveIn(zone)
    }
    expect(await codeOf(await post({ title: 'When?', startAt: '2026-12-24' }))).toBe('validation_failed')
  },
)
