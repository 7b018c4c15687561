import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { emergencyNumbers } from '../../server/modules/understanding/emergency-numbers.ts'
import { understanding } from './house.ts'

const ByKind = z.record(z.string(), z.array(z.string()))
const { en, de, none } = z
  .object({ en: ByKind, de: ByKind, none: z.array(z.string()) })
  .parse(JSON.parse(readFileSync(join(import.meta.dirname, 'urgent.json'), 'utf8')))

const heard = (text: string, locale: string) => understanding.urgency(text, locale)?.kind

test.each([
  ['en-GB', en],
  ['de-DE', de],
])('danger is heard however it is said: %s', (locale, kinds) => {
  const missed = Object.entries(kinds).flatMap(([kind, sentences]) =>
    sentences.flatMap((text) => (heard(text, locale) === kind ? [] : [`${text}: ${heard(text, locale)}, not ${kind}`])),
  )
  expect(missed).toEqual([])
})

test('what only sounds like danger is none', () => {
  expect(none.flatMap((text) => (heard(text, 'en-GB') ? [`${text}: ${heard(text, 'en-GB')}`] : []))).toEqual([])
  expect(none.flatMap((text) => (heard(text, 'de-DE') ? [`${text}: ${heard(text, 'de-DE')}`] : []))).toEqual([])
})

test('a long sentence is looked through in a moment', () => {
  const text = 'is there fire help call the man in my house that is not '.repeat(500)
  heard(text, 'en-GB')
  const began = performance.now()
  heard(text, 'en-GB')
  expect(performance.now() - began).toBeLessThan(1_000)
})

test.each([
  ['en-GB', 'Europe/London', { call: '999', talk: '116 123' }],
  ['en-US', 'America/Chicago', { call: '911', talk: '988' }],
  ['en-US', 'UTC', { call: undefined, talk: undefined }],
  ['de-DE', 'UTC', { call: '112', talk: '116 123' }],
  ['en-US', 'Europe/Berlin', { call: '112', talk: undefined }],
  ['en-GB', 'Europe/Berlin', { call: '112', talk: undefined }],
  ['de-DE', 'Europe/Berlin', { call: '112', talk: '116 123' }],
  ['de-AT', 'Europe/Vienna', { call: '112', talk: '142' }],
  ['en-AU', 'Australia/Sydney', { call: '000', talk: '13 11 14' }],
  ['en', 'Asia/Tokyo', { call: undefined, talk: undefined }],
  ['not a locale', 'UTC', { call: undefined, talk: undefined }],
])('whom to call by %s in %s', (locale, timezone, { call, talk }) => {
  const numbers = emergencyNumbers({ locale, timezone })
  expect([numbers.call, numbers.talk]).toEqual([call, talk])
})
