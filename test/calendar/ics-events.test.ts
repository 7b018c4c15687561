import { expect, test } from 'vitest'
import { readICalendar } from '../../server/modules/calendar/ics-events.ts'
import { readIcs } from '../../server/modules/calendar/ics-reader.ts'

const NOW = new Date('2026-11-21T12:00:00Z')
const calendar = (...lines: string[]) =>
  ['BEGIN:VCALENDAR', 'VERSION:2.0', 'PRODID:-//Elsewhere//EN', ...lines, 'END:VCALENDAR', ''].join('\r\n')
const vevent = (...lines: string[]) => ['BEGIN:VEVENT', ...lines, 'END:VEVENT']
const read = (text: string, zone = 'Europe/Berlin') => readICalendar(text, zone, NOW)
const bytes = (text: string) => ({ body: new TextEncoder().encode(text), zone: 'Europe/Berlin' })

test('times in a zone, in UTC, without a zone and whole days', async () => {
  const found = await read(
    calendar(
      ...vevent(
        'UID:1',
        'SUMMARY:New York',
        'DTSTART;TZID=America/New_York:20261124T090000',
        'DTEND;TZID=America/New_York:20261124T100000',
      ),
      ...vevent('UID:2', 'SUMMARY:UTC', 'DTSTART:20261124T090000Z', 'DURATION:PT90M'),
      ...vevent('UID:3', 'SUMMARY:Here', 'DTSTART:20261124T090000'),
      ...vevent('UID:4', 'SUMMARY:Day', 'DTSTART;VALUE=DATE:20261124'),
      ...vevent('UID:5', 'SUMMARY:Days', 'DTSTART;VALUE=DATE:20261124', 'DTEND;VALUE=DATE:20261127'),
      ...vevent(
        'UID:6',
        'SUMMARY:Windows',
        'DTSTART;TZID="W. Europe Standard Time":20261124T090000',
        'DTEND;TZID="W. Europe Standard Time":20261124T093000',
      ),
      ...vevent('UID:7', 'SUMMARY:Own', 'DTSTART;TZID=/x.example/Europe/London:20261124T090000'),
      ...vevent('UID:8', 'SUMMARY:Unknown', 'DTSTART;TZID=Nowhere:20261124T090000'),
    ),
  )
  expect(found.map(({ title, startAt, endAt, allDay, timezone }) => [title, startAt, endAt, allDay, timezone])).toEqual([
    ['New York', '2026-11-24T14:00:00.000Z', '2026-11-24T15:00:00.000Z', false, 'America/New_York'],
    ['UTC', '2026-11-24T09:00:00.000Z', '2026-11-24T10:30:00.000Z', false, 'Etc/UTC'],
    ['Here', '2026-11-24T08:00:00.000Z', '2026-11-24T08:00:00.000Z', false, 'Europe/Berlin'],
    ['Day', '2026-11-23T23:00:00.000Z', '2026-11-24T23:00:00.000Z', true, 'Europe/Berlin'],
    ['Days', '2026-11-23T23:00:00.000Z', '2026-11-26T23:00:00.000Z', true, 'Europe/Berlin'],
    ['Windows', '2026-11-24T08:00:00.000Z', '2026-11-24T08:30:00.000Z', false, 'Europe/Berlin'],
    ['Own', '2026-11-24T09:00:00.000Z', '2026-11-24T09:00:00.000Z', false, 'Europe/London'],
    ['Unknown', '2026-11-24T08:00:00.000Z', '2026-11-24T08:00:00.000Z', false, 'Europe/Berlin'],
  ])
})

test('rules, what is left out of them, what stands in, and what is cancelled', async () => {
  const found = await read(
    calendar(
      ...vevent(
        'UID:choir',
        'SUMMARY:Choir',
        'DTSTART;TZID=Europe/Berlin:20261020T190000',
        'RRULE:FREQ=WEEKLY',
        'EXDATE;TZID=Europe/Berlin:20261027T190000',
        'EXDATE;VALUE=DATE:20261103',
      ),
      ...vevent(
        'UID:choir',
        'SUMMARY:Choir, elsewhere',
        'RECURRENCE-ID;TZID=Europe/Berlin:20261110T190000',
        'DTSTART;TZID=Europe/Berlin:20261110T200000',
        'LOCATION:Hall\\, upstairs',
      ),
      ...vevent(
        'UID:choir',
        'SUMMARY:x',
        'RECURRENCE-ID;TZID=Europe/Berlin:20261117T190000',
        'DTSTART;TZID=Europe/Berlin:20261117T190000',
        'STATUS:CANCELLED',
      ),
      ...vevent('UID:gone', 'SUMMARY:Gone', 'DTSTART:20261124T090000Z', 'STATUS:CANCELLED'),
      ...vevent('UID:days', 'SUMMARY:Days', 'DTSTART;VALUE=DATE:20261101', 'RRULE:FREQ=MONTHLY', 'EXDATE;VALUE=DATE:20261201'),
      ...vevent('UID:strange', 'SUMMARY:Strange', 'DTSTART:20261124T090000Z', 'RRULE:FREQ=SECONDLY'),
    ),
  )
  expect(found).toHaveLength(4)
  expect(found[0]).toMatchObject({
    title: 'Choir',
    recurrence: 'FREQ=WEEKLY',
    lastEndAt: null,
    excluded: ['2026-10-27T18:00:00.000Z', '2026-11-03T18:00:00.000Z', '2026-11-10T18:00:00.000Z', '2026-11-17T18:00:00.000Z'],
  })
  expect(found[1]).toMatchObject({
    title: 'Choir, elsewhere',
    startAt: '2026-11-10T19:00:00.000Z',
    location: 'Hall, upstairs',
    recurrence: null,
  })
  expect(found[2]).toMatchObject({ title: 'Days', recurrence: 'FREQ=MONTHLY', excluded: ['2026-11-30T23:00:00.000Z'] })
  expect(found[3]).toMatchObject({ title: 'Strange', recurrence: null })
})

test('of an hour that the clocks go through twice a local time is the first one', async () => {
  const found = await read(
    calendar(
      ...vevent(
        'UID:1',
        'SUMMARY:Night',
        'DTSTART;TZID=Europe/Berlin:20261025T023000',
        'DTEND;TZID=Europe/Berlin:20261025T024500',
        'RRULE:FREQ=DAILY;COUNT=3',
        'EXDATE;TZID=Europe/Berlin:20261025T023000',
      ),
      ...vevent('UID:2', 'SUMMARY:Second', 'DTSTART:20261025T013000Z'),
    ),
  )
  expect(found).toMatchObject([
    { startAt: '2026-10-25T00:30:00.000Z', endAt: '2026-10-25T00:45:00.000Z', excluded: ['2026-10-25T00:30:00.000Z'] },
    { startAt: '2026-10-25T01:30:00.000Z', timezone: 'Etc/UTC' },
  ])
})

test('what takes place on further dates is there on each, once, but where that is left out or replaced', async () => {
  const shown = async (...lines: string[]) => (await read(calendar(...lines))).map(({ title, startAt, endAt }) => [title, startAt, endAt])
  expect(
    await shown(
      ...vevent(
        'UID:1',
        'SUMMARY:Course',
        'DTSTART;TZID=Europe/Berlin:20261211T190000',
        'DTEND;TZID=Europe/Berlin:20261211T203000',
        'RDATE;TZID=Europe/Berlin:20261211T190000,20261212T190000',
        'RDATE;VALUE=PERIOD:20261213T180000Z/PT2H,20261214T180000Z/20261214T190000Z',
        'RDATE;TZID=Europe/Berlin:20261215T190000',
        'EXDATE;TZID=Europe/Berlin:20261214T190000',
      ),
      ...vevent('UID:1', 'SUMMARY:Course, late', 'DTSTART:20261215T200000Z', 'RECURRENCE-ID;TZID=Europe/Berlin:20261215T190000'),
    ),
  ).toEqual([
    ['Course', '2026-12-11T18:00:00.000Z', '2026-12-11T19:30:00.000Z'],
    ['Course', '2026-12-12T18:00:00.000Z', '2026-12-12T19:30:00.000Z'],
    ['Course', '2026-12-13T18:00:00.000Z', '2026-12-13T19:30:00.000Z'],
    ['Course, late', '2026-12-15T20:00:00.000Z', '2026-12-15T20:00:00.000Z'],
  ])
  expect(
    await shown(
      ...vevent(
        'UID:1',
        'SUMMARY:Bins',
        'DTSTART;VALUE=DATE:20261204',
        'DTEND;VALUE=DATE:20261206',
        'RRULE:FREQ=WEEKLY;COUNT=3',
        'RDATE;VALUE=DATE:20261211,20261215',
      ),
    ),
  ).toEqual([
    ['Bins', '2026-12-03T23:00:00.000Z', '2026-12-05T23:00:00.000Z'],
    ['Bins', '2026-12-14T23:00:00.000Z', '2026-12-16T23:00:00.000Z'],
  ])
})

test('one that is broken does not spoil the rest', async () => {
  const good = vevent('UID:good', 'SUMMARY:Good', 'DTSTART:20261124T090000Z')
  const broken = [
    vevent('UID:1', 'SUMMARY:No start'),
    vevent('UID:2', 'DTSTART:tomorrow'),
    vevent('UID:3', 'DTSTART:99999999T999999Z'),
    vevent('UID:4', 'DTSTART:00010101T000000Z'),
    vevent('UID:5', 'DTSTART:20261124T090000Z', 'DTSTART:20261125T090000Z', 'SUMMARY:Twice').slice(0, 2),
    ['no property', ':', ';;;', '\u0000\u0001'],
    ['BEGIN:VALARM', ...good, 'END:VALARM'].slice(0, 1),
  ]
  const found = await read(calendar(...good, ...broken.flat()))
  expect(found.map(({ title }) => title)).toContain('Good')
  const backwards = await read(
    calendar(...vevent('UID:b', 'DTSTART:20261124T090000Z', 'DTEND:20261123T090000Z', '__PROTO__:x', 'CONSTRUCTOR:y')),
  )
  expect(backwards).toMatchObject([{ title: 'Without a title', endAt: '2026-11-24T09:00:00.000Z' }])
  expect(({} as { x?: unknown }).x).toBeUndefined()
})

test('an alarm within an event is none of its own properties', async () => {
  const found = await read(
    calendar(
      ...vevent(
        'UID:1',
        'SUMMARY:Real',
        'DTSTART:20261124T090000Z',
        'BEGIN:VALARM',
        'SUMMARY:Alarm',
        'DESCRIPTION:Alarm',
        'DURATION:PT5M',
        'END:VALARM',
      ),
    ),
  )
  expect(found).toMatchObject([{ title: 'Real', notes: null, endAt: '2026-11-24T09:00:00.000Z' }])
})

test('folded and huge texts are read to a sane length', async () => {
  const folded = Array.from({ length: 50_000 }, () => ' word').join('\r\n')
  const [event] = await read(calendar(...vevent('UID:1', 'SUMMARY:Long', `DESCRIPTION:a\r\n${folded}`, 'DTSTART:20261124T090000Z')))
  expect(event?.notes).toHaveLength(20_000)
  const [long] = await read(calendar(...vevent('UID:1', `SUMMARY:${'x'.repeat(4_000_000)}`, 'DTSTART:20261124T090000Z')))
  expect(long?.title).toHaveLength(300)
})

test('what is long over is not taken along', async () => {
  const found = await read(
    calendar(
      ...vevent('UID:1', 'SUMMARY:Old', 'DTSTART:20100101T090000Z'),
      ...vevent('UID:2', 'SUMMARY:Old series', 'DTSTART:20100101T090000Z', 'RRULE:FREQ=DAILY;COUNT=9'),
      ...vevent('UID:3', 'SUMMARY:For ever', 'DTSTART:20100101T090000Z', 'RRULE:FREQ=DAILY'),
    ),
  )
  expect(found.map(({ title }) => title)).toEqual(['For ever'])
})

test('what is no calendar, or too much of one, is refused in words', async () => {
  await expect(read('<!doctype html><title>Sign in</title>')).rejects.toThrow('is not in the iCalendar format')
  await expect(read('')).rejects.toThrow('is not in the iCalendar format')
  const many = (count: number) =>
    calendar(...Array.from({ length: count }, (_, at) => vevent(`UID:${at}`, 'DTSTART:20261124T090000Z')).flat())
  await expect(read(many(5_001))).rejects.toThrow('has more than 5000 events')
  expect(await read(many(5_000))).toHaveLength(5_000)
  await expect(read(many(20_001))).rejects.toThrow('has too many events')
})

test('a thread of its own reads it, in bounded time', async () => {
  const text = calendar(...vevent('UID:1', 'SUMMARY:Good', 'DTSTART:20261124T090000Z'))
  const [first, again] = [await readIcs(bytes(text)), await readIcs(bytes(text.replace('UID:1', 'DTSTAMP:20260101T000000Z\r\nUID:1')))]
  expect(first.events).toHaveLength(1)
  expect(again.digest).toBe(first.digest)
  await expect(readIcs(bytes('garbage'))).rejects.toThrow('is not in the iCalendar format')
  expect((await readIcs(bytes(calendar('X:1\r\n'.repeat(1_000_000))))).events).toEqual([])
  expect(
    (
      await readIcs({
        ...bytes(''),
        body: Buffer.concat([Buffer.from(calendar(...vevent('UID:1', 'DTSTART:20261124T090000Z'))), Buffer.alloc(1_000, 0xff)]),
      })
    ).events,
  ).toHaveLength(1)
  const endless = Array.from({ length: 5_000 }, (_, at) =>
    vevent(`UID:${at}`, 'DTSTART:20261124T090000Z', 'RRULE:FREQ=DAILY;COUNT=5000;BYMONTH=2;BYMONTHDAY=29'),
  )
  await expect(readIcs(bytes(calendar(...endless.flat())), undefined, 1_000)).rejects.toThrow('takes too long to read')
  await expect(readIcs(bytes(text), AbortSignal.abort())).rejects.toThrow('was not read to its end')
}, 60_000)
