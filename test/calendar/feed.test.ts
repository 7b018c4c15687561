import ical, { type VEvent } from 'node-ical'
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest'
import { later } from '../support/clock.ts'
import { everyCredential } from '../support/credentials.ts'
import { type Browser, type House, startHouse } from '../support/house.ts'
import { start } from '../support/pairing-calls.ts'

let house: House
let ada: Browser
beforeAll(async () => {
  house = await startHouse()
  ada = await house.residentOwner()
  const { household, persons } = await ada.api.household.get()
  const { id: _, ...settings } = household
  await ada.api.household.replace({
    body: {
      ...settings,
      timezone: 'Europe/Berlin',
      mode: 'multi',
      persons: [
        { id: persons[0]?.id, displayName: 'Ada', birthDate: '1987-12-10' },
        { displayName: 'Ben', birthDate: '2016-02-29' },
      ],
    },
  })
})
afterEach(() => void vi.useRealTimers())
afterAll(() => house[Symbol.asyncDispose]())

const pathOf = (url: string) => url.slice(new URL(url).origin.length)
const textAt = async (url: string) => (await house.stranger().fetch(pathOf(url))).text()

test('the address has a key that is kept as a hash, and the last one alone works', async () => {
  const first = await ada.api.calendar.feed()
  expect(first.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/api\/calendar\.ics\?key=[\w-]{43}$/)
  expect((await house.stranger().fetch(pathOf(first.url))).status).toBe(200)
  const second = await ada.api.calendar.feed()
  expect((await house.stranger().fetch(pathOf(first.url))).status).toBe(401)
  await house.restart()
  const answer = await house.stranger().fetch(pathOf(second.url))
  expect(answer.headers.get('content-type')).toBe('text/calendar; charset=utf-8')
  expect(await answer.text()).toMatch(/^BEGIN:VCALENDAR\r\n[\s\S]*END:VCALENDAR\r\n$/)
  await ada.api.calendar.endFeed({ query: {} })
  const gone = await house.stranger().fetch(pathOf(second.url))
  expect([gone.status, await gone.json()]).toEqual([401, { error: 'Unauthorized' }])
})

test('everybody has an address of their own, which ends with them; an admin ends all', async () => {
  const owners = await ada.api.calendar.feed()
  const shared = await house.pair('Kitchen')
  const { persons } = await ada.api.household.get()
  const ben = persons.find(({ displayName }) => displayName === 'Ben')?.id ?? ''
  const { qr } = await ada.api.pairing.start({ body: { scope: 'member', personId: ben } })
  const { code, secret } = JSON.parse(Buffer.from(qr.split('d=')[1] ?? '', 'base64url').toString()) as { code: string; secret: string }
  const paired = await house.stranger().api.pairing.complete({ body: { code, secret, deviceInfo: { name: 'Ben’s', type: 'phone' } } })
  const bens = house.bearer(paired.accessToken)
  const first = await bens.api.calendar.feed()
  const kitchens = await shared.api.calendar.feed()
  const statusOf = async ({ url }: { url: string }) => (await house.stranger().fetch(pathOf(url))).status
  expect(await Promise.all([owners, first, kitchens].map(statusOf))).toEqual([200, 200, 200])
  const second = await bens.api.calendar.feed()
  expect(await Promise.all([owners, first, second, kitchens].map(statusOf))).toEqual([200, 401, 200, 200])
  await shared.api.calendar.endFeed({ query: {} })
  expect(await Promise.all([owners, second, kitchens].map(statusOf))).toEqual([200, 200, 401])
  const guests = await shared.api.calendar.feed()
  await ada.api.pairedDevices.update({ params: { id: shared.id }, body: { scope: 'guest' } })
  expect(await statusOf(guests)).toBe(401)
  expect((await bens.fetch('/api/calendar/feed?all=true', { method: 'DELETE' })).status).toBe(403)
  expect((await ada.fetch('/api/calendar/feed?all=true', { method: 'DELETE' })).status).toBe(204)
  expect(await Promise.all([owners, second].map(statusOf))).toEqual([401, 401])
})

test('a person’s address lasts as long as a device of theirs may read the calendar; the owner’s lasts without any', async () => {
  const owners = await ada.api.calendar.feed()
  const { persons } = await ada.api.household.get()
  const ben = persons.find(({ displayName }) => displayName === 'Ben')?.id ?? ''
  const info = { name: 'Ben’s', type: 'phone' as const }
  const { code, secret } = await start(ada, { scope: 'member', personId: ben })
  const { accessToken } = await house.stranger().api.pairing.complete({ body: { code, secret, deviceInfo: info } })
  const bens = await house.bearer(accessToken).api.calendar.feed()
  const devices = await ada.api.pairedDevices.list()
  const phone = devices.findLast(({ name }) => name === info.name)?.id ?? ''
  for (const { id, userId } of devices) if (userId === ben && id !== phone) await ada.api.pairedDevices.revoke({ params: { id } })
  const statuses = () => Promise.all([owners, bens].map(async ({ url }) => (await house.stranger().fetch(pathOf(url))).status))
  expect(await statuses()).toEqual([200, 200])
  await ada.api.pairedDevices.update({ params: { id: phone }, body: { scope: 'guest' } })
  expect(await statuses()).toEqual([200, 401])
  await ada.api.pairedDevices.update({ params: { id: phone }, body: { scope: 'member' } })
  expect(await statuses()).toEqual([200, 200])
  await ada.api.pairedDevices.revoke({ params: { id: phone } })
  expect(await statuses()).toEqual([200, 401])
})

test('without its key every credential of a member reads it, a guest not', async () => {
  const { url } = await ada.api.calendar.feed()
  const asks = await everyCredential(house)
  for (const [who, ask] of Object.entries(asks)) {
    const expected = who === 'none' ? 401 : who.startsWith('guest') ? 403 : 200
    expect((await ask('/api/calendar.ics')).status, who).toBe(expected)
    expect((await ask('/api/calendar.ics?key=wrong')).status, who).toBe(expected)
    expect((await ask(pathOf(url))).status, who).toBe(200)
  }
})

test('another calendar reads what this one shows', async () => {
  const { create, remove } = ada.api.calendar
  await create({
    body: {
      title: 'Once; with, signs\\',
      startAt: '2026-11-24T14:00:00Z',
      location: 'Hall\nUpstairs',
      notes: 'a\r\nEND:VEVENT\r\nb\u0007',
    },
  })
  const choir = await create({ body: { title: 'Choir', startAt: '2026-10-20T17:00:00Z', recurrence: 'FREQ=WEEKLY;UNTIL=20261231' } })
  await remove({ params: { id: choir.id }, query: { occurrence: '2026-10-27T18:00:00.000Z' } })
  const bins = await create({ body: { title: 'Bins', startAt: '2026-11-01T00:00:00+01:00', allDay: true, recurrence: 'FREQ=MONTHLY' } })
  await remove({ params: { id: bins.id }, query: { occurrence: '2026-11-30T23:00:00.000Z' } })
  const { url } = await ada.api.calendar.feed()
  const text = await textAt(url)
  expect(text).toContain('BEGIN:VTIMEZONE\r\nTZID:Europe/Berlin')
  expect(text).toContain('RRULE:FREQ=WEEKLY;UNTIL=20261231T225959Z')
  expect(text).toContain('EXDATE;TZID=Europe/Berlin:20261027T190000')
  expect(text).toContain('EXDATE;VALUE=DATE:20261201')
  for (const line of text.split('\r\n')) expect(Buffer.byteLength(line)).toBeLessThanOrEqual(75)
  const events = Object.values(ical.sync.parseICS(text)).filter((one): one is VEvent => one?.type === 'VEVENT')
  const by = (title: string) => events.find(({ summary }) => summary === title)
  expect(events).toHaveLength(5)
  expect(by('Once; with, signs\\')).toMatchObject({ location: 'Hall\nUpstairs', description: 'a\nEND:VEVENT\nb' })
  const found = by('Choir')
  expect(found?.start.toISOString()).toBe('2026-10-20T17:00:00.000Z')
  const times = found?.rrule?.between(new Date('2026-10-01'), new Date('2027-02-01')).map((at) => at.toISOString())
  expect(times?.slice(0, 3)).toEqual(['2026-10-20T17:00:00.000Z', '2026-10-27T18:00:00.000Z', '2026-11-03T18:00:00.000Z'])
  expect(times?.at(-1)).toBe('2026-12-29T18:00:00.000Z')
  expect(by('Bins')).toMatchObject({ datetype: 'date' })
  expect(text).toMatch(/SUMMARY:Ada’s birthday/)
  expect(text).toContain('DTSTART;VALUE=DATE:19871210')
  expect(text).toContain('RRULE:FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=-1')
})

test('a change counts up what others see, and the second pass of an hour is told in UTC', async () => {
  const { create, update } = ada.api.calendar
  const { id } = await create({ body: { title: 'Night', startAt: '2026-10-25T01:30:00Z', endAt: '2026-10-25T01:45:00Z' } })
  await create({ body: { title: 'Day', startAt: '2026-10-25T13:30:00Z' } })
  const { url } = await ada.api.calendar.feed()
  const of = async (title: string) => (await textAt(url)).split('BEGIN:VEVENT').find((event) => event.includes(`SUMMARY:${title}`)) ?? ''
  expect(await of('Night')).toContain('DTSTART:20261025T013000Z')
  expect(await of('Night')).toContain('SEQUENCE:0')
  later(2_000)
  await update({ params: { id }, body: { startAt: '2026-10-25T00:30:00Z', endAt: '2026-10-25T00:45:00Z' } })
  expect(await of('Night')).toContain('DTSTART;TZID=Europe/Berlin:20261025T023000')
  expect(await of('Night')).toMatch(/SEQUENCE:[1-9]/)
  expect(await of('Day')).toContain('SEQUENCE:0')
})

test('a zone’s changes of clocks are written out', async () => {
  const { url } = await ada.api.calendar.feed()
  const text = await textAt(url)
  const year = new Date().getUTCFullYear()
  const blocks = [...text.matchAll(/BEGIN:(STANDARD|DAYLIGHT)\r\nDTSTART:(\d{8})T(\d{6})\r\nTZOFFSETFROM:(\S+)\r\nTZOFFSETTO:(\S+)/g)]
  expect(blocks.length).toBeGreaterThan(25)
  const spring = blocks.find(([, kind, date]) => kind === 'DAYLIGHT' && date?.startsWith(`${year}03`))
  expect(spring?.slice(3)).toEqual(['020000', '+0100', '+0200'])
  const autumn = blocks.find(([, kind, date]) => kind === 'STANDARD' && date?.startsWith(`${year}10`))
  expect(autumn?.slice(3)).toEqual(['030000', '+0200', '+0100'])
})
