import { expect, test } from 'vitest'
import { findDates, piecesWithDates } from '../../server/modules/understanding/chrono.ts'
import { context, understand } from './house.ts'

const times = (text: string, length: number) => text.repeat(Math.ceil(length / text.length)).slice(0, length)
const RUNS = ['half an hour ', '10 minutes ', 'in the morning ', 'every monday and ', 'on the 1st of ', 'morgen um 7 ', 'x', '1 ', ' ', "'"]

test('however long a sentence is, dates are looked for in a short piece at each of its ends', () => {
  for (const run of RUNS) {
    for (const length of [161, 500, 2_000, 32_000]) {
      const text = times(run, length)
      const pieces = piecesWithDates(text)
      expect(pieces.reduce((sum, { piece }) => sum + piece.length, 0)).toBeLessThanOrEqual(200)
      for (const { from, piece } of pieces) expect(text.slice(from, from + piece.length)).toBe(piece)
    }
  }
})

test('a short sentence is one piece', () => {
  expect(piecesWithDates('tomorrow at 7')).toEqual([{ from: 0, piece: 'tomorrow at 7' }])
})

test('a date is found where it stands, at the beginning and at the end', () => {
  const filling = times('and the cat ', 300)
  const text = `5 May 2027 ${filling}until 6 June 2027`
  const found = findDates('en', text, new Date(2026, 10, 21)).map(({ at, date }) => text.slice(at, at + date.text.length))
  expect(found).toEqual(['5 May 2027', '6 June 2027'])
})

test('a long reminder keeps its time, said first or last', () => {
  const title = `call ${times('the neighbours and ', 260)}the landlord`
  for (const said of [`remind me on 5 May 2027 at 18:00 to ${title}`, `remind me to ${title} on 5 May 2027 at 18:00`]) {
    expect(understand(said)).toMatchObject({ intent: 'remind', slots: { remindAt: '2027-05-05T16:00:00.000Z' } })
  }
})

test('runs of times and words are read to their end, in any language', () => {
  for (const locale of ['en-GB', 'de-DE']) {
    for (const opening of ['', 'remind me to call mum ', 'put x into the calendar ', 'erinnere mich ', 'what is ']) {
      for (const run of RUNS)
        for (const length of [200, 1_999, 4_096]) understand((opening + times(run, length)).slice(0, length), { locale })
    }
  }
  expect(understand('remind me to call mum tomorrow at 5', context)).toMatchObject({ intent: 'remind' })
}, 60_000)
