import { expect, test } from 'vitest'
import { lettersWrong } from '../../server/modules/understanding/misspelt-days.ts'
import { names, understand } from './house.ts'

const at = (text: string, changes: Parameters<typeof understand>[1] = {}) => {
  const { intent = 'nothing', slots = {} } = understand(text, changes) ?? {}
  return `${intent} ${slots.title ?? slots.words ?? slots.message ?? ''} ${slots.remindAt ?? slots.startAt ?? slots.endsAt ?? ''} ${slots.recurrence ?? ''}`.trim()
}

test.each([
  ['abc', 'abc', 0],
  ['tuseday', 'tuesday', 1],
  ['wensday', 'wednesday', 2],
  ['', 'abc', 3],
] as const)('%s is %s but for some letters', (a, b, wrong) => expect(lettersWrong(a, b)).toBe(wrong))

test.each([
  ['remind me to buy milk tommorrow at 9', 'remind buy milk 2026-11-22T08:00:00.000Z'],
  ['remind me to pick up the cake thursdy at 3', 'remind pick up the cake 2026-11-26T14:00:00.000Z'],
  ['remind me to bring the cake wednsday at 4', 'remind bring the cake 2026-11-25T15:00:00.000Z'],
  ['remind me next tuseday to call', 'remind call 2026-11-24T08:00:00.000Z'],
  ['remind me on 7 decmber to call', 'remind call 2026-12-07T08:00:00.000Z'],
  ['add judo to the calendar on tuesdy at 5pm', 'event_add judo 2026-11-24T16:00:00.000Z'],
  ['remind me 2moro at 9 to call', 'remind call 2026-11-22T08:00:00.000Z'],
  ['remind me on wensday at 9 to call', 'remind call 2026-11-25T08:00:00.000Z'],
  ['wake me tommorow at 7', 'alarm_set  2026-11-22T06:00:00.000Z'],
  ['Erinnere mich dinstag um 9 an den Müll', 'remind Müll 2026-11-24T08:00:00.000Z'],
  ['Erinnere mich am Mitwoch um 9 an den Müll', 'remind Müll 2026-11-25T08:00:00.000Z'],
])('a misspelt day is that day: %s', (text, expected) => expect(at(text)).toBe(expected))

test.each([
  ['remind me to clean the fridge at 5', 'remind clean the fridge 2026-11-21T16:00:00.000Z'],
  ['remind me to count the money at 5', 'remind count the money 2026-11-21T16:00:00.000Z'],
  ['remind me to buy a sundae at 5', 'remind buy a sundae 2026-11-21T16:00:00.000Z'],
  ['remind me to call Sundy at 5', 'remind call Sundy 2026-11-21T16:00:00.000Z'],
  ['remind me to mail the match report at 5', 'remind mail the match report 2026-11-21T16:00:00.000Z'],
  ['remind me to call marc 2 at 6', 'remind call marc 2 2026-11-21T17:00:00.000Z'],
  ['remind me to buy 2 merch at 6', 'remind buy 2 merch 2026-11-21T17:00:00.000Z'],
  ['remind me to visit augusta 7 at 6', 'remind visit augusta 7 2026-11-21T17:00:00.000Z'],
  ['remind me to buy the 5 aprils at 6', 'remind buy the 5 aprils 2026-11-21T17:00:00.000Z'],
  ['Erinnere mich an den Dienst um 17 Uhr', 'remind Dienst 2026-11-21T16:00:00.000Z'],
  ['Trag den Dienst morgen um 8 in den Kalender ein', 'event_add den Dienst 2026-11-22T07:00:00.000Z'],
])('what only looks like a day is none: %s', (text, expected) =>
  expect(at(text, { names: { ...names, people: [{ id: 's', name: 'Sundy' }] } })).toBe(expected),
)

test.each([
  ['add zoo trip to the calendar on 7.12. at 10', '2026-12-07T09:00:00.000Z', '2027-07-12T08:00:00.000Z'],
  ['add zoo trip to the calendar on 3/12 at 2pm', '2026-12-03T13:00:00.000Z', '2027-03-12T13:00:00.000Z'],
  ['add zoo trip to the calendar 04/12 at 6pm', '2026-12-04T17:00:00.000Z', '2027-04-12T16:00:00.000Z'],
  ['add zoo trip to the calendar on 12/5/2027 at 9am', '2027-05-12T07:00:00.000Z', '2027-12-05T08:00:00.000Z'],
  ['add zoo trip to the calendar on 2026-12-03 at 5pm', '2026-12-03T16:00:00.000Z', '2026-12-03T16:00:00.000Z'],
])('the day comes first but in America: %s', (text, here, america) => {
  expect(at(text)).toBe(`event_add zoo trip ${here}`)
  expect(at(text, { locale: 'en-AU' })).toBe(`event_add zoo trip ${here}`)
  expect(at(text, { locale: 'en-US' })).toBe(`event_add zoo trip ${america}`)
})

test('numbers that are no dates stay what they are', () => {
  expect(at('remind me to buy 1/2 kg flour tomorrow')).toBe('remind buy 1/2 kg flour 2026-11-22T08:00:00.000Z')
  expect(at('remind me to split it 50/50 at 5')).toBe('remind split it 50/50 2026-11-21T16:00:00.000Z')
  expect(at('remind me at 7.30 to leave')).toBe('remind leave 2026-11-21T18:30:00.000Z')
})

test.each([
  ['remind me to pay rent after the weekend', 'after the weekend'],
  ['remind me to water the plants except sunday every day at 8', 'except sunday'],
  ['remind me to buy a present for granny before christmas', 'before christmas'],
  ['remind me on the 31st of february to laugh', '31st of february'],
  ['remind me to call bob on tuezdy', 'on tuezdy'],
  ['remind me to call bob monday or tuesday at 5', 'or tuesday'],
  ['add zoo to the calendar on 31/2 at 5pm', 'on 31/2'],
  ['add zoo to the calendar 31/11 at 5pm', '31/11'],
  ['remind me on 30/2 to call', 'on 30/2'],
  ['remind me to call on 31/4 at 9', 'on 31/4'],
  ['remind me to call mum after sunday tomorrow at 5', 'after sunday'],
  ['Erinnere mich daran, die Miete zu zahlen nach Weihnachten', 'nach Weihnachten'],
])('what is said of when and not understood is asked for again: %s', (text, words) => expect(at(text)).toBe(`when_unread ${words}`))

test.each([
  ['remind me to call mum after 5pm', 'remind call mum 2026-11-21T16:00:00.000Z'],
  ['remind me to take the pills after dinner at 8', 'remind take the pills after dinner 2026-11-21T19:00:00.000Z'],
  ['remind me to feed the cat before work tomorrow', 'remind feed the cat before work 2026-11-22T08:00:00.000Z'],
  ['remind me to do homework at 4 pm every schoolday', 'remind do homework 2026-11-23T15:00:00.000Z FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR'],
  ['remind me to take pills every day at 8 until friday', 'remind take pills 2026-11-22T07:00:00.000Z FREQ=DAILY;UNTIL=20261127'],
  ['remind me every day at 8 until 24 december to take pills', 'remind take pills 2026-11-22T07:00:00.000Z FREQ=DAILY;UNTIL=20261224'],
  ['remind me to take pills every day at 8 until the 24th of dec', 'remind take pills 2026-11-22T07:00:00.000Z FREQ=DAILY;UNTIL=20261224'],
  ['remind me every day at 8 until 1 november to call', 'remind call 2026-11-22T07:00:00.000Z FREQ=DAILY;UNTIL=20271101'],
  ['remind me to take pills every day at 8 until christmas', 'remind take pills 2026-11-22T07:00:00.000Z FREQ=DAILY;UNTIL=20261225'],
  ['remind me to decide whether or not on monday', 'remind decide whether or not 2026-11-23T08:00:00.000Z'],
  ['remind me to buy coffee or tea tomorrow', 'remind buy coffee or tea 2026-11-22T08:00:00.000Z'],
  ['Erinnere mich jeden Tag um 8 Uhr bis Freitag an die Tabletten', 'remind Tabletten 2026-11-22T07:00:00.000Z FREQ=DAILY;UNTIL=20261127'],
  ['Erinnere mich morgen an die Arbeit um 17 Uhr', 'remind Arbeit 2026-11-22T16:00:00.000Z'],
  ['Erinnere mich morgen um 8 an das Treffen um 17 Uhr', 'remind Treffen um 17 Uhr 2026-11-22T07:00:00.000Z'],
  ['Erinnere mich am Freitag daran, Oma anzurufen um 17 Uhr', 'remind Oma anzurufen 2026-11-27T16:00:00.000Z'],
  ['remind me to pay rent at the weekend', 'remind pay rent 2026-11-28T08:00:00.000Z'],
  ['remind me to water plants on weekends at 9', 'remind water plants 2026-11-22T08:00:00.000Z FREQ=WEEKLY;BYDAY=SA,SU'],
])('what is understood is done: %s', (text, expected) => expect(at(text)).toBe(expected))

test.each([
  ['remind me tomorrow at 8 for 5 days to take pills', 'remind take pills 2026-11-22T07:00:00.000Z FREQ=DAILY;UNTIL=20261126'],
  ['wake me up at 7 for 3 days', 'alarm_set  2026-11-22T06:00:00.000Z FREQ=DAILY;UNTIL=20261124'],
  ['set an alarm for 7 for two weeks', 'alarm_set  2026-11-22T06:00:00.000Z FREQ=DAILY;UNTIL=20261205'],
  ['remind me tomorrow at 8 for 2 hours to breathe', 'remind breathe 2026-11-22T07:00:00.000Z'],
])('what is said for some days is on each of them: %s', (text, expected) => expect(at(text)).toBe(expected))

test.each([
  ['add camp to the calendar every monday for two days', '2026-11-24T23:00:00.000Z', 'FREQ=WEEKLY;BYDAY=MO'],
  ['add camp to the calendar every monday at 9 for two days', '2026-11-25T08:00:00.000Z', 'FREQ=WEEKLY;BYDAY=MO'],
  ['add gym to the calendar every monday at 6pm for two hours', '2026-11-23T19:00:00.000Z', 'FREQ=WEEKLY;BYDAY=MO'],
  ['add gym to the calendar every monday at 6pm for two weeks', undefined, 'FREQ=WEEKLY;BYDAY=MO;UNTIL=20261206'],
])('what is said for less than it takes to come again is its length: %s', (text, endAt, recurrence) =>
  expect(understand(text)).toMatchObject({ intent: 'event_add', slots: { recurrence, ...(endAt && { endAt }) } }),
)

test('how long it takes is not lost where an event is moved', () =>
  expect(understand('move the dentist to friday for 2 hours')?.intent).not.toBe('event_move'))

test.each([
  'remind me every day for 99999999 years to drink',
  'wake me up at 7 for 99999999 years',
  'add party to the calendar on 5 december at 5pm for 999999999999999 hours',
  'add party to the calendar on 5 december at 5pm for 100000 years',
])('what would end when nothing can is not put down: %s', (text) => {
  const { recurrence = '', endAt, startAt } = understand(text)?.slots ?? {}
  expect(recurrence).not.toContain('Invalid')
  expect(endAt).toBeUndefined()
  expect(startAt).toBeUndefined()
})
