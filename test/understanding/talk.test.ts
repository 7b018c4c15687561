import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { SMALL_TALK } from '../../server/modules/understanding/small-talk.ts'
import { json } from '../support/credentials.ts'
import { type Family, makeFamily } from '../support/family.ts'
import { type House, type Person, startHouse } from '../support/house.ts'
import { context, understanding } from './house.ts'

const sentences = z
  .array(z.object({ say: z.string(), intent: z.string().nullable(), language: z.string().optional() }))
  .parse(JSON.parse(readFileSync(join(import.meta.dirname, 'talk.json'), 'utf8')))

let house: House
let family: Family
beforeAll(async () => {
  house = await startHouse()
  family = await makeFamily(house)
})
afterAll(() => house[Symbol.asyncDispose]())

async function say(message: string, who: Person = family.owner): Promise<string> {
  const answer = await (await who.fetch('/api/chat', json({ message }))).text()
  return answer.slice(answer.indexOf('\n') + 1)
}

test('talk is taken for what it is', () => {
  const wrong = sentences.flatMap(({ say, intent, language = 'en' }) => {
    const understood = understanding.understand(say, { ...context, locale: language })
    return (understood?.intent ?? null) === intent ? [] : [`${say}: ${understood?.intent}, not ${intent}`]
  })
  expect(wrong).toEqual([])
})

test('talk that a model is better at is left to one, what the house does with its words is not', () => {
  for (const { say, intent, language = 'en' } of sentences) {
    if (intent === null) continue
    const understood = understanding.understand(say, { ...context, locale: language })
    if (SMALL_TALK.has(intent)) expect(understood?.maybe, say).toBe(true)
    if (intent === 'listening' || intent === 'delete_everything') expect(understood?.maybe, say).toBe(false)
  }
})

test('without a model each has a kind line, and no example sentences', async () => {
  expect(await say("I'm feeling sad")).toContain('sorry to hear')
  expect(await say('I love you')).toContain('Thank you')
  expect(await say('are you listening to us?')).toContain('Nothing of it leaves this house unless')
  expect(await say('delete everything you know')).toContain('not done by a sentence')
  expect(await say('shut up')).toBe('All right, I am quiet.')
  expect(await say('tell me a joke')).not.toMatch(/for example|understand/)
})

test('what no family can tell is said not to be known here', async () => {
  for (const question of [
    "what's the weather",
    'what is the meaning of life?',
    'who is the president',
    'why is the sky blue?',
    'who won the world cup',
    'how do I make risotto',
  ])
    expect(await say(question), question).toMatch(/^I cannot look that up here.*Models\.$/)
  expect(await say('what is my name?')).toBe('You are Ada.')
})

test('examples are of what this house can do, for whom it may do it', async () => {
  const offered = await Promise.all(
    ['turn the music lamp louder somehow', 'volume camera lamp blub', 'playing what now then lamp'].map((text) => say(text)),
  )
  for (const text of offered) {
    expect(text).toContain('for example')
    expect(text).not.toMatch(/lamp|volume|play|camera|light|Anna|\{person\}/i)
  }
  const guest = await house.pair('Visitor', 'guest')
  const told = await say('please make the timer list blub', guest)
  expect(told).not.toMatch(/timer|list|remember|remind|calendar|play|volume/i)
  expect(await say('what can you do?', guest)).not.toMatch(/timer|list|remember|play/i)
})

test('what is known of somebody answers a question about them, quoted and without a conclusion', async () => {
  const { household, persons } = await family.owner.api.household.get()
  const lea = { displayName: 'Lea', role: 'child' as const, birthDate: '2018-05-05' }
  await family.owner.api.household.replace({ body: { ...household, persons: [...persons, lea] } })
  await say('remember that Lea is allergic to peanuts')
  expect(await say('Can Lea eat peanut butter?')).toBe('I know this about Lea: “Lea is allergic to peanuts”.')
  await say('remember that the bins go out on Tuesdays')
  expect(await say('when do the bins go out?')).toMatch(/^You told me on .*Tuesdays$/)
  await say('remember that I like tea')
  expect(await say('what do you know about me?')).toContain('“I like tea”')
  const known = await say('What do you know about Lea?')
  expect(known).toMatch(
    /^Lea is a child of this household\. Lea is \d+ years old\. Born on 5 May 2018\. I know this about Lea: “Lea is allergic to peanuts”\.$/,
  )
})
