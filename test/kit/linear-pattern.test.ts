import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, test } from 'vitest'
import { linearPattern, OutOfSteps } from '../../server/kit/linear-pattern.ts'

const ENOUGH = 1_000_000
const matches = (pattern: string, text: string) => linearPattern(pattern)?.test(text, { left: ENOUGH })

/** Numbers that look random and are the same in every run. */
function createDice(seed: number) {
  let state = seed
  return (sides: number) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * sides)
  }
}

test('patterns as people write them mean what they mean elsewhere', () => {
  const patterns = [
    '^[a-z0-9]+(-[a-z0-9]+)*$',
    "^(?!\\.)(?!.*\\.\\.)([A-Za-z0-9_'+\\-\\.]*)[A-Za-z0-9_+-]@([A-Za-z0-9][A-Za-z0-9\\-]*\\.)+[A-Za-z]{2,}$",
    '^\\p{L}+$',
    '^.{2,3}$',
    '^(?<year>\\d{4})-\\d\\d$',
    '\\bcat\\b',
    '(?<=€)\\d+|(?<!x)y',
    '[^\\]]x',
    '^\\u{1F600}\\ud83d\\ude00$',
    '^[😀-😂]{2}$',
    '',
    'a||b',
    '^$',
    '^(?:)*$',
    '\\cA|\\x41|\\/|\\0',
    '(?=a(?!b))..',
    '^\\{\\}$',
    '[]|[^]',
  ]
  const texts = [
    '',
    'a',
    'ab',
    'ac',
    'abc-d',
    'a.b@c.de',
    '.a@b.cd',
    'a..b@c.de',
    'äß',
    '2026-11',
    'the cat sat',
    'cats',
    '€5',
    'xy',
    'zy',
    ']x',
    'ax',
    '😀😀',
    '😂',
    'A',
    '/',
    '{}',
    '\0',
    '\ud83d',
    '\u0001',
    'a\nb',
  ]
  for (const pattern of patterns)
    for (const text of texts)
      expect(matches(pattern, text), `${pattern} in ${JSON.stringify(text)}`).toBe(new RegExp(pattern, 'u').test(text))
})

test('any pattern finds what the engine of the language finds', () => {
  const dice = createDice(7)
  const pick = <T>(from: readonly T[]) => from[dice(from.length)] as T
  const make = (depth: number): string => {
    const kind = depth === 0 ? dice(4) : dice(11)
    if (kind < 3) return pick(['a', 'b', '.', '\\w', '[ab]', '[^a]', 'é', '-'])
    if (kind === 3) return pick(['^', '$', '\\b', '\\B', ''])
    if (kind < 6) return make(depth - 1) + make(depth - 1)
    if (kind === 6) return `(?:${make(depth - 1)}|${make(depth - 1)})`
    if (kind < 10) return `(${make(depth - 1)})${pick(['*', '+', '?', '{2}', '{1,2}', '{0,}', '*?'])}`
    return `(?${pick(['=', '!', '<=', '<!'])}${make(depth - 1)})`
  }
  for (let round = 0; round < 3_000; round += 1) {
    const pattern = make(4)
    const linear = linearPattern(pattern)
    if (!linear) continue
    for (let count = 0; count < 6; count += 1) {
      const text = Array.from({ length: dice(6) }, () => pick(['a', 'b', '-', 'é', '\n'])).join('')
      expect(linear.test(text, { left: ENOUGH }), `${pattern} in ${JSON.stringify(text)}`).toBe(new RegExp(pattern, 'u').test(text))
    }
  }
})

test('what refers back, or is too large written out, is not read', () => {
  for (const pattern of ['(a)\\1', '(?<x>a)\\k<x>', '((a{99}){99}){99}', '(){1000000000}', 'a{0,1000000}', '(?=a)'.repeat(7)])
    expect(linearPattern(pattern), pattern).toBeNull()
})

const LONG = 100_000
test.each([
  ['(a|aa)+$', `${'a'.repeat(LONG)}!`],
  ['^(a+)+$', `${'a'.repeat(LONG)}!`],
  ['.*.*.*x', 'a'.repeat(LONG)],
  ['a*a*a*a*a*b', 'a'.repeat(LONG)],
  ['^(([a-z])+.)+[A-Z]([a-z])+$', 'a'.repeat(LONG)],
  ['(.*)*=', 'a'.repeat(LONG)],
  ['(x+x+)+y', 'x'.repeat(LONG)],
  ['\\s+$', `${' '.repeat(LONG)}x`],
  ['^(\\w+\\s?)*$', `${'a '.repeat(LONG / 2)}!`],
])('a pattern that could go many ways is decided on 100,000 characters: %s', (pattern, text) => {
  expect(matches(pattern, text)).toBe(false)
})

test.each([
  ['^(?=(a+)+$)(?!.*.*.*x)', `${'a'.repeat(LONG)}!`],
  ['.{1000}x', 'a'.repeat(LONG)],
  ['(?:a|b)*a(?:a|b){300}$', 'ab'.repeat(LONG / 2)],
  [`(${Array.from({ length: 200 }, (_, at) => `[a-${String.fromCodePoint(0x4e00 + at)}]`).join('')})+!`, 'b'.repeat(LONG)],
  ['a', 'b'.repeat(3 * ENOUGH)],
])('one that needs too many steps all the same is given up: %s', (pattern, text) => {
  const steps = { left: 200_000 }
  expect(() => linearPattern(pattern)?.test(text, steps)).toThrow(OutOfSteps)
})

test('what is remembered of a pattern does not grow with the texts', () => {
  const linear = linearPattern('a.{30}b')
  const used = () => {
    globalThis.gc?.()
    return process.memoryUsage().heapUsed
  }
  setFlagsFromString('--expose-gc')
  globalThis.gc ??= runInNewContext('gc') as typeof globalThis.gc
  const before = used()
  let state = 1
  const text = () => {
    const sign = () => {
      state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
      return state >>> 31 === 1 ? 'a' : 'c'
    }
    return Array.from({ length: 3_000 }, sign).join('')
  }
  for (let count = 0; count < 500; count += 1) {
    try {
      linear?.test(text(), { left: 200_000 })
    } catch (error) {
      expect(error).toBeInstanceOf(OutOfSteps)
    }
  }
  expect((used() - before) / 2 ** 20).toBeLessThan(30)
})
