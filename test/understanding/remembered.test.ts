import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { type Family, startFamily } from '../memory/family.ts'
import { json } from '../support/credentials.ts'
import type { Person } from '../support/house.ts'
import { context, understanding } from './house.ts'

const sentences = z
  .array(z.object({ say: z.string(), intent: z.string().nullable(), content: z.string().optional(), language: z.string().optional() }))
  .parse(JSON.parse(readFileSync(join(import.meta.dirname, 'remembered.json'), 'utf8')))

let family: Family
beforeAll(async () => {
  family = await startFamily()
})
afterAll(() => family[Symbol.asyncDispose]())

/** A conversation with the house, said one after the other. */
function talk(who: Person) {
  let conversationId: string | undefined
  return async (message: string): Promise<string> => {
    const answer = await (await who.fetch('/api/chat', json({ message, ...(conversationId && { conversationId }) }))).text()
    conversationId = (JSON.parse(answer.slice(0, answer.indexOf('\n'))) as { conversationId: string }).conversationId
    return answer.slice(answer.indexOf('\n') + 1)
  }
}

test('whatever follows “remember” is kept as it was said', () => {
  const wrong = sentences.flatMap(({ say, intent, content, language = 'en' }) => {
    const understood = understanding.understand(say, { ...context, locale: language })
    const isRight = (understood?.intent ?? null) === intent && (content === undefined || understood?.slots.content === content)
    return isRight ? [] : [`${say}: ${understood?.intent} ${JSON.stringify(understood?.slots)}`]
  })
  expect(wrong).toEqual([])
})

test('several sentences that want something remembered are kept one by one', async () => {
  const say = talk(family.ada)
  expect(await say('Remember that the attic key is green. Remember that the shed key is red.')).toMatch(
    /attic key is green\s.*shed key is red/s,
  )
  expect(await say('what is the shed key?')).toMatch(/: the shed key is red\.?$/)
})

test('what is put right takes the place of what was said before, which is kept as history', async () => {
  const say = talk(family.ada)
  await say('remember that the boiler code is 4711')
  for (const [sentence, code] of [
    ['Actually the boiler code is 9998', '9998'],
    ['no, it’s 9997', '9997'],
    ['the boiler code changed to 9996', '9996'],
    ['the boiler code is now 9995', '9995'],
  ] as const) {
    expect(await say(sentence), sentence).toContain('Before, it was')
    expect(await say('what is the boiler code?'), sentence).toContain(code)
  }
  expect(await say('Actually the weather is nice')).not.toContain('I will remember')
})

test('only who said it is told that they did', async () => {
  await talk(family.ben)('remember that the gate code is 2020')
  expect(await talk(family.ben)('what is the gate code?')).toMatch(/^You told me on /)
  expect(await talk(family.ada)('what is the gate code?')).toMatch(/^Ben told me on /)
  await talk(family.shared)('remember that the cellar light is broken')
  expect(await talk(family.ada)('where is the cellar light?')).toMatch(/^Someone on Kitchen tablet told me on /)
})

test('“my” on a shared device is nobody’s, and each hears of their own alone', async () => {
  expect(await talk(family.shared)('remember that my favourite colour is green')).toContain('somebody’s')
  expect(await talk(family.ada)('what is my favourite colour?')).not.toContain('green')
  await talk(family.ada)('remember that my favourite colour is blue')
  expect(await talk(family.ada)('what is my favourite colour?')).toMatch(/^You told me on .*blue/)
  expect(await talk(family.ben)('what is my favourite colour?')).not.toMatch(/green|blue/)
})
