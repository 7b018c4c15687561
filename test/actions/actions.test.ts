import { randomUUID } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { action } from '../../server/kit/actions.ts'
import { checkAnswer, codeOf } from '../support/answers.ts'
import { json } from '../support/credentials.ts'
import { type Device, type House, type Person, startHouse } from '../support/house.ts'

let house: House
let owner: Person
let member: Device
let guest: Device
const ran: unknown[] = []
const told: string[] = []

beforeAll(async () => {
  house = await startHouse()
  owner = await house.residentOwner()
  member = await house.pair('Ben’s phone', 'member')
  guest = await house.pair('Visitor', 'guest')
  const add = (name: string, risk: 'low' | 'high', input: z.ZodType = z.looseObject({})) =>
    house.app.actions.add(
      action({
        name,
        description: `Does ${name}`,
        input,
        risk,
        async run(params) {
          ran.push(params)
          return { output: `Did ${name}.`, data: params }
        },
      }),
    )
  add('test.low', 'low', z.strictObject({ room: z.string(), level: z.number().int().max(10).optional() }))
  add('test.high', 'high')
  add('test.free', 'low')
  house.app.actions.add(
    action({
      name: 'test.breaks',
      description: 'Breaks',
      input: z.looseObject({}),
      risk: 'low',
      run: () => Promise.reject(new TypeError('the lamp fell over')),
    }),
  )
  house.app.actions.add(
    action({
      name: 'test.endless',
      description: 'Goes on',
      input: z.looseObject({}),
      risk: 'low',
      async run(_params, { signal }) {
        told.push('began')
        await wait(20_000, undefined, { signal }).catch(() => told.push('stopped'))
        return { output: '' }
      },
    }),
  )
})
afterAll(() => house[Symbol.asyncDispose]())

const namesFor = async (who: Person) => (await who.api.actions.list()).map(({ name }) => name).filter((name) => name.startsWith('test.'))
const execute = (who: Person, name: string, init: RequestInit = json({})) => who.fetch(`/api/actions/${name}/execute`, init)

test('everybody sees what they may have done, with its schema', async () => {
  expect(await namesFor(owner)).toEqual(['test.breaks', 'test.endless', 'test.free', 'test.high', 'test.low'])
  expect(await namesFor(member)).toEqual(['test.breaks', 'test.endless', 'test.free', 'test.low'])
  expect((await guest.fetch('/api/actions')).status).toBe(403)
  const low = (await member.api.actions.list()).find(({ name }) => name === 'test.low')
  expect(low).toMatchObject({ risk: 'low', parameters: { type: 'object', required: ['room'], additionalProperties: false } })
})

test('an action runs once with what was sent, and by whom is written down', async () => {
  ran.length = 0
  const result = await member.api.actions.execute({ params: { name: 'test.low' }, body: { room: 'hall', level: 3 } })
  expect(result).toEqual({ output: 'Did test.low.', data: { room: 'hall', level: 3 } })
  expect(ran).toEqual([{ room: 'hall', level: 3 }])
  const items = await owner.api.actions.runs({ query: { limit: 1 } })
  expect(items).toMatchObject([
    {
      action: 'test.low',
      params: { room: 'hall', level: 3 },
      origin: 'api',
      caller: 'Ben’s phone',
      deviceId: member.id,
      status: 'succeeded',
      output: 'Did test.low.',
      error: null,
    },
  ])
})

test('what is not an action, not allowed or not right runs nothing', async () => {
  ran.length = 0
  const before = await owner.api.actions.runs({ query: { limit: 1 } })
  const names = ['nothing', '__proto__', 'constructor', 'toString', 'a.b.c', '%2e%2e%2fx', 'x'.repeat(10_240)]
  for (const name of names) {
    const answer = await execute(owner, name)
    expect(answer.status, name.slice(0, 20)).toBe(404)
    await checkAnswer(answer, name.slice(0, 20))
  }
  expect((await execute(member, 'test.high')).status).toBe(403)
  expect((await execute(guest, 'test.free')).status).toBe(403)
  const wrong = await execute(member, 'test.low', json({ level: 11, odd: true }))
  expect(wrong.status).toBe(400)
  expect(JSON.parse(await checkAnswer(wrong, 'wrong parameters'))).toMatchObject({
    details: expect.arrayContaining([expect.objectContaining({ path: 'body.room' }), expect.objectContaining({ path: 'body.level' })]),
  })
  for (const body of [[], 'text', 5, null]) expect((await execute(member, 'test.free', json(body))).status, String(body)).toBe(400)
  const send = (body: string, type: string) => execute(member, 'test.free', { method: 'POST', headers: { 'content-type': type }, body })
  expect((await send('{"a":', 'application/json')).status).toBe(400)
  expect((await send('{}', 'text/plain')).status).toBe(415)
  expect((await send(JSON.stringify({ text: 'x'.repeat(1_100_000) }), 'application/json')).status).toBe(413)
  expect((await execute(member, 'test.free', { method: 'POST' })).status).toBe(400)
  expect(ran).toEqual([])
  expect(await owner.api.actions.runs({ query: { limit: 1 } })).toEqual(before)
})

test('names of JavaScript’s own in the parameters change nothing', async () => {
  ran.length = 0
  const send = (body: string) => execute(member, 'test.free', { method: 'POST', headers: { 'content-type': 'application/json' }, body })
  expect((await send('{"__proto__":{"admin":true}}')).status).toBe(400)
  expect(ran).toEqual([])
  expect((await send('{"constructor":{"x":1},"toString":1,"room":"hall"}')).status).toBe(200)
  expect(({} as { admin?: boolean }).admin).toBeUndefined()
  expect(Object.getPrototypeOf(ran[0])).toBe(Object.prototype)
})

test('an action that breaks answers with its message, and the audit has it', async () => {
  const answer = await execute(member, 'test.breaks')
  expect(answer.status).toBe(500)
  expect(await answer.json()).toMatchObject({ code: 'action_failed', error: 'the lamp fell over' })
  expect(await owner.api.actions.runs({ query: { action: 'test.breaks', limit: 1 } })).toMatchObject([
    { status: 'failed', error: 'the lamp fell over', output: null },
  ])
})

test('an action ends when its caller leaves', async () => {
  told.length = 0
  const leaving = new AbortController()
  const asked = member.fetch('/api/actions/test.endless/execute', { ...json({}), signal: leaving.signal }).catch(() => 'left')
  await expect.poll(() => told, { timeout: 10_000 }).toEqual(['began'])
  leaving.abort()
  expect(await asked).toBe('left')
  await expect.poll(() => told, { timeout: 10_000 }).toEqual(['began', 'stopped'])
  await expect
    .poll(async () => await owner.api.actions.runs({ query: { action: 'test.endless', limit: 1 } }), { timeout: 10_000 })
    .toMatchObject([{ status: 'failed', error: expect.stringContaining('cancelled') }])
})

test('secrets do not reach the audit', async () => {
  const secret = 'S3cr3t-value-of-the-house'
  await owner.api.actions.execute({
    params: { name: 'test.free' },
    body: {
      password: secret,
      apiKey: secret,
      nested: { headers: { Authorization: `Bearer ${secret}`, 'X-Api-Key': secret }, list: [{ refresh_token: secret }] },
      url: `https://ada:${secret}@lamp.example/?token=${secret}`,
      text: `say Bearer ${secret}`,
      room: 'hall',
      monkey: 'Rex',
    },
  })
  const [run] = await owner.api.actions.runs({ query: { action: 'test.free', limit: 1 } })
  expect(JSON.stringify(run)).not.toContain(secret)
  expect(run?.params).toMatchObject({ room: 'hall', monkey: 'Rex', password: '•••' })
})

test('an API key is named by its label, a person by their name', async () => {
  const { key } = await owner.api.keys.create({ body: { label: 'Shell script', scope: 'member' } })
  await house.bearer(key).api.actions.execute({ params: { name: 'test.low' }, body: { room: 'a' } })
  await owner.api.actions.execute({ params: { name: 'test.low' }, body: { room: 'b' } })
  const items = await owner.api.actions.runs({ query: { action: 'test.low', limit: 2 } })
  expect(items.map(({ caller }) => caller)).toEqual(['Ada', 'API key Shell script'])
  expect((await execute(house.bearer(key), 'test.high')).status).toBe(403)
})

test('runs are filtered and paged without a gap, and only admins read them', async () => {
  for (let at = 0; at < 5; at += 1) await member.api.actions.execute({ params: { name: 'test.low' }, body: { room: `room ${at}` } })
  const all = await owner.api.actions.runs({ query: { limit: 500 } })
  expect(all.map(({ startedAt }) => startedAt)).toEqual(
    all
      .map(({ startedAt }) => startedAt)
      .toSorted()
      .reverse(),
  )
  const paged: string[] = []
  for (let before: string | undefined; ; before = paged.at(-1)) {
    const page = await owner.api.actions.runs({ query: { limit: 2, ...(before && { before }) } })
    paged.push(...page.map(({ id }) => id))
    if (page.length < 2) break
  }
  expect(paged).toEqual(all.map(({ id }) => id))
  const failed = await owner.api.actions.runs({ query: { status: 'failed', limit: 500 } })
  expect(failed.map(({ id }) => id)).toEqual(all.filter(({ status }) => status === 'failed').map(({ id }) => id))
  const both = await owner.api.actions.runs({ query: { status: 'failed', action: 'test.low', limit: 500 } })
  expect(both).toEqual([])
  for (const wrong of ['x', 'AAAA', '!!', randomUUID()])
    expect(await codeOf(await owner.fetch(`/api/actions/runs?before=${wrong}`)), wrong).toBe('validation_failed')
  expect((await member.fetch('/api/actions/runs')).status).toBe(403)
})

test('what was done stays known after a restart', async () => {
  const items = await owner.api.actions.runs({ query: { limit: 500 } })
  const actions = house.app.actions
  await house.restart()
  expect(house.app.actions).not.toBe(actions)
  const back = await house.residentOwner()
  expect(await back.api.actions.runs({ query: { limit: 500 } })).toEqual(items)
})
