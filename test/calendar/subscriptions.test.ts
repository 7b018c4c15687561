import type { IncomingMessage, ServerResponse } from 'node:http'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest'
import { codeOf } from '../support/answers.ts'
import { json } from '../support/credentials.ts'
import { type Browser, type House, startHouse } from '../support/house.ts'
import { type Endpoint, listen } from '../support/listener.ts'

let house: House
let ada: Browser
let outside: Endpoint
let asked: IncomingMessage[]
beforeAll(async () => {
  house = await startHouse({ env: { SERVICE_FETCH_ALLOW_LOCAL: '1' } })
  ada = await house.residentOwner()
  outside = await listen(() => undefined)
})
afterAll(async () => {
  await house[Symbol.asyncDispose]()
  await outside[Symbol.asyncDispose]()
})
beforeEach(() => {
  asked = []
})
afterEach(async () => {
  vi.useRealTimers()
  for (const { id } of await ada.api.calendar.subscriptions()) await ada.api.calendar.unsubscribe({ params: { id } })
})

const calendar = (...titles: string[]) =>
  [
    'BEGIN:VCALENDAR',
    ...titles.flatMap((title, at) => ['BEGIN:VEVENT', `UID:${at}`, `SUMMARY:${title}`, 'DTSTART:20261124T090000Z', 'END:VEVENT']),
    'END:VCALENDAR',
  ].join('\r\n')
const serve = (answer: (req: IncomingMessage, res: ServerResponse) => void) => {
  outside.handle = (req, res) => {
    asked.push(req)
    answer(req, res)
  }
}
const serveText = (text: string) => serve((_req, res) => void res.end(text))
const shown = async () =>
  (await ada.api.calendar.list({ query: { from: '2026-11-24T00:00:00Z', to: '2026-11-25T00:00:00Z' } }))
    .map(({ title }) => title)
    .toSorted()
const subscribe = () => ada.api.calendar.subscribe({ body: { name: 'School', url: `${outside.url}/cal.ics` } })

test('an outside calendar is shown, read only, replaced at a refresh, and gone when it is not wanted', async () => {
  serveText(calendar('Trip', 'Play'))
  const made = await subscribe()
  expect(made).toMatchObject({ name: 'School', url: `${outside.url}/cal.ics`, events: 2, error: null })
  expect(await shown()).toEqual(['Play', 'Trip'])
  const [event] = await ada.api.calendar.list({ query: { from: '2026-11-24T00:00:00Z', to: '2026-11-25T00:00:00Z' } })
  expect(event).toMatchObject({ kind: 'subscribed', subscriptionId: made.id })
  expect(await codeOf(await ada.fetch(`/api/calendar/${event?.id}`, json({ title: 'x' }, 'PATCH')))).toBe('read_only')
  serveText(calendar('Trip', 'Concert', 'Fair'))
  expect(await ada.api.calendar.refresh({ params: { id: made.id } })).toMatchObject({ events: 3, error: null })
  expect(await shown()).toEqual(['Concert', 'Fair', 'Trip'])
  expect((await ada.fetch(`/api/calendar/${event?.id}`)).status).toBe(404)
  await house.restart()
  expect(await shown()).toEqual(['Concert', 'Fair', 'Trip'])
  await ada.api.calendar.unsubscribe({ params: { id: made.id } })
  expect(await shown()).toEqual([])
  expect((await ada.fetch(`/api/calendar/subscriptions/${made.id}`, { method: 'DELETE' })).status).toBe(404)
})

test('a calendar is shown once, by whichever name, also where it is asked for twice at once', async () => {
  serveText(calendar('Trip'))
  const url = `${outside.url}/cal.ics`
  const asked = await Promise.all(
    ['A', 'B', 'C'].map((name) => ada.fetch('/api/calendar/subscriptions', json({ name, url: name === 'C' ? `${url}#today` : url }))),
  )
  expect(asked.map(({ status }) => status).toSorted()).toEqual([201, 409, 409])
  const again = await ada.fetch('/api/calendar/subscriptions', json({ name: 'Again', url }))
  expect(again.status).toBe(409)
  expect(await again.json()).toMatchObject({
    code: 'conflict',
    error: expect.stringMatching(/^This calendar is shown already, as “[ABC]”\.$/),
  })
  expect(await ada.api.calendar.subscriptions()).toHaveLength(1)
  expect(await shown()).toEqual(['Trip'])
  const other = await ada.api.calendar.subscribe({ body: { name: 'Other', url: `${url}?week` } })
  expect(other.events).toBe(1)
})

test('what did not change is not sent again, nor written again', async () => {
  serve((req, res) => {
    if (req.headers['if-none-match'] === '"one"') res.writeHead(304).end()
    else res.writeHead(200, { etag: '"one"', 'last-modified': 'Sat, 21 Nov 2026 10:00:00 GMT' }).end(calendar('Trip'))
  })
  const { id } = await subscribe()
  const [before] = await ada.api.calendar.list({ query: { from: '2026-11-24T00:00:00Z', to: '2026-11-25T00:00:00Z' } })
  await ada.api.calendar.refresh({ params: { id } })
  expect(asked[1]?.headers).toMatchObject({ 'if-none-match': '"one"', 'if-modified-since': 'Sat, 21 Nov 2026 10:00:00 GMT' })
  serveText(calendar('Trip'))
  await ada.api.calendar.refresh({ params: { id } })
  expect(await ada.api.calendar.get({ params: { id: before?.id ?? '' } })).toEqual(before)
})

test('when a refresh fails the old events stay, and it says why', async () => {
  serveText(calendar('Trip'))
  const { id, refreshedAt } = await subscribe()
  const loop = (_req: IncomingMessage, res: ServerResponse) => void res.writeHead(302, { location: '/again' }).end()
  const failures: [(req: IncomingMessage, res: ServerResponse) => void, RegExp][] = [
    [(_req, res) => void res.writeHead(500).end('broken'), /answers with 500/],
    [(_req, res) => void res.end('<html>Sign in</html>'), /not in the iCalendar format/],
    [(_req, res) => void res.end(Buffer.alloc(6 * 1024 * 1024)), /more than is taken/],
    [(_req, res) => void res.socket?.destroy(), /cannot be reached/],
    [loop, /from one address to the next/],
    [(_req, res) => void res.writeHead(304).end(), /answers with 304/],
  ]
  for (const [answer, words] of failures) {
    serve(answer)
    const told = await ada.api.calendar.refresh({ params: { id } })
    expect(told).toMatchObject({ events: 1, refreshedAt })
    expect(told.error).toMatch(words)
    expect(await shown()).toEqual(['Trip'])
  }
  serveText(calendar('Play'))
  expect(await ada.api.calendar.refresh({ params: { id } })).toMatchObject({ error: null })
  expect(await shown()).toEqual(['Play'])
})

test('nothing is kept of one that cannot be read at first', async () => {
  serveText('garbage')
  const refused = await ada.fetch('/api/calendar/subscriptions', json({ name: 'x', url: outside.url }))
  expect(refused.status).toBe(502)
  expect(await codeOf(refused)).toBe('upstream_failed')
  for (const url of ['ftp://x.example/a.ics', 'nowhere', 'javascript:alert(1)'])
    expect((await ada.fetch('/api/calendar/subscriptions', json({ name: 'x', url }))).status).toBe(400)
  expect(await ada.api.calendar.subscriptions()).toEqual([])
})

test('two refreshes at once ask once', async () => {
  serveText(calendar('Trip'))
  const { id } = await subscribe()
  await Promise.all([1, 2, 3].map(() => ada.api.calendar.refresh({ params: { id } })))
  expect(asked).toHaveLength(2)
})

test('it is read anew every hour, later while it fails, and at once after a long sleep', async () => {
  serveText(calendar('Trip'))
  await subscribe()
  serveText(calendar('Play'))
  const later = (ms: number) => {
    const to = Date.now() + ms
    vi.useFakeTimers({ toFake: ['Date'] })
    vi.setSystemTime(to)
  }
  await house.restart()
  later(59 * 60_000)
  await house.restart()
  expect(asked).toHaveLength(1)
  later(2 * 60_000)
  await house.restart()
  await vi.waitFor(async () => expect(await shown()).toEqual(['Play']), { timeout: 10_000, interval: 50 })
  serve((_req, res) => void res.writeHead(503).end())
  later(61 * 60_000)
  await house.restart()
  await vi.waitFor(async () => expect((await ada.api.calendar.subscriptions())[0]?.error).toMatch(/503/), { timeout: 10_000, interval: 50 })
  const tries = asked.length
  await house.restart()
  expect(asked).toHaveLength(tries)
})

test('five thousand events come and go while the house answers', async () => {
  serveText(calendar(...Array.from({ length: 5_000 }, (_, at) => `event ${at}`)))
  const { id, events } = await subscribe()
  expect(events).toBe(5_000)
  expect(await shown()).toHaveLength(2_000)
  await ada.api.calendar.unsubscribe({ params: { id } })
  expect(await shown()).toEqual([])
}, 60_000)

test('addresses of this machine are refused unless that is switched off', async () => {
  await using strict = await startHouse()
  const owner = await strict.residentOwner()
  const before = outside.hits.length
  for (const url of [
    outside.url,
    outside.url.replace('127.0.0.1', 'localhost'),
    outside.url.replace('http', 'webcal'),
    `${strict.url}/api/calendar.ics`,
  ]) {
    const refused = await owner.fetch('/api/calendar/subscriptions', json({ name: 'x', url }))
    expect([refused.status, await codeOf(refused)], url).toEqual([403, 'address_blocked'])
  }
  expect(outside.hits).toHaveLength(before)
})
