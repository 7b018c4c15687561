import { setTimeout as wait } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { type ActionCall, action, createActionRegistry, foreignAction } from '../../server/kit/actions.ts'
import { AppError } from '../../server/kit/errors.ts'

const call = (signal = new AbortController().signal): ActionCall => ({
  caller: { kind: 'owner', scope: 'admin', deviceId: 'd', userId: 'u', personId: 'p', sessionId: 's', via: 'cookie' },
  origin: 'api',
  signal,
})
const dim = action({
  name: 'lamp.dim',
  description: 'Dim a lamp',
  input: z.strictObject({ level: z.number().min(0).max(100), room: z.string().default('hall') }),
  risk: 'low',
  run: async ({ level, room }, { caller }) => ({ output: `${room} at ${level} for ${caller.kind}` }),
})

test('an action runs with parsed parameters and its caller, and is listed with a schema of them', async () => {
  const actions = createActionRegistry({ audit: async () => async () => undefined })
  actions.add(dim)
  expect(await actions.run('lamp.dim', { level: 7 }, call())).toEqual({ output: 'hall at 7 for owner' })
  expect(actions.list(call().caller)).toMatchObject([
    {
      name: 'lamp.dim',
      description: 'Dim a lamp',
      risk: 'low',
      parameters: {
        type: 'object',
        required: ['level'],
        properties: { level: { type: 'number', maximum: 100 } },
        additionalProperties: false,
      },
    },
  ])
})

test('unknown names, wrong parameters and names taken twice are refused', async () => {
  const actions = createActionRegistry({ audit: async () => async () => undefined })
  const remove = actions.add(dim)
  expect(() => actions.add(dim)).toThrow('lamp.dim')
  await expect(actions.run('lamp.paint', {}, call())).rejects.toMatchObject({ status: 404, code: 'not_found' })
  await expect(actions.run('lamp.dim', { level: 'low', colour: 1 }, call())).rejects.toMatchObject({
    status: 400,
    code: 'validation_failed',
    details: [{ path: 'body.level' }, { path: 'body' }],
  })
  remove()
  await expect(actions.run('lamp.dim', { level: 1 }, call())).rejects.toMatchObject({ status: 404 })
  expect(actions.list(call().caller)).toEqual([])
})

test('an expected failure comes through as it is, a bug as action_failed with its message', async () => {
  const actions = createActionRegistry({ audit: async () => async () => undefined, waitMs: 50 })
  const failing = (name: string, error: unknown) =>
    action({ name, description: '', input: z.unknown(), risk: 'high', run: () => Promise.reject(error) })
  actions.add(failing('known', new AppError(409, 'conflict', 'Already dark.')))
  actions.add(failing('bug', new TypeError('no lamp')))
  actions.add(failing('odd', 'just text'))
  actions.add(action({ name: 'throws', description: '', input: z.unknown(), risk: 'low', run: () => { throw new Error('at once') } })) // biome-ignore format: one line
  actions.add(action({ name: 'nonsense', description: '', input: z.unknown(), risk: 'low', run: async () => ({}) as never }))
  await expect(actions.run('known', {}, call())).rejects.toMatchObject({ status: 409, code: 'conflict' })
  await expect(actions.run('bug', {}, call())).rejects.toMatchObject({ status: 500, code: 'action_failed', message: 'no lamp' })
  await expect(actions.run('odd', {}, call())).rejects.toMatchObject({ status: 500, code: 'action_failed' })
  await expect(actions.run('throws', {}, call())).rejects.toMatchObject({ status: 500, code: 'action_failed', message: 'at once' })
  await expect(actions.run('nonsense', {}, call())).rejects.toMatchObject({ status: 500, code: 'action_failed' })
  await wait(80) // the time limit of a call that is long over fails nobody
})

/** An action that goes on until its signal says otherwise, and whether it was told. */
function endless() {
  const told: string[] = []
  const spec = action({
    name: 'endless',
    description: '',
    input: z.unknown(),
    risk: 'low',
    async run(_input, { signal }) {
      await wait(20_000, undefined, { signal }).catch(() => told.push('stop'))
      return { output: '' }
    },
  })
  return { spec, told }
}

test('an action that takes too long is told to stop and answers 504; so is one whose caller leaves, before or after', async () => {
  const actions = createActionRegistry({ audit: async () => async () => undefined, waitMs: 50 })
  const { spec, told } = endless()
  actions.add(spec)
  await expect(actions.run('endless', {}, call())).rejects.toMatchObject({
    status: 504,
    code: 'timeout',
    message: expect.stringContaining('too long'),
  })
  await expect.poll(() => told).toEqual(['stop'])

  const leaving = new AbortController()
  const left = actions.run('endless', {}, call(leaving.signal))
  leaving.abort()
  await expect(left).rejects.toMatchObject({ status: 504, message: expect.stringContaining('cancelled') })
  await expect(actions.run('endless', {}, call(AbortSignal.abort()))).rejects.toMatchObject({
    status: 504,
    message: expect.stringContaining('cancelled'),
  })
})

test('an action of somebody else is checked by its own schema, and its words are cut', async () => {
  const actions = createActionRegistry({ audit: async () => async () => undefined })
  const asked: unknown[] = []
  actions.add(
    foreignAction({
      name: 'mcp.shed.water',
      description: 'w'.repeat(2_000),
      parameters: { properties: { minutes: { type: 'integer', minimum: 1 } }, required: ['minutes'] },
      risk: 'high',
      run: async (params) => {
        asked.push(params)
        return { output: 'Watered.' }
      },
    }),
  )
  expect(actions.find('mcp.shed.water')).toMatchObject({ description: 'w'.repeat(500), parameters: { type: 'object' }, access: 'member' })
  for (const wrong of [{}, { minutes: 0 }, { minutes: '5' }, [], 'text', null])
    await expect(actions.run('mcp.shed.water', wrong, call())).rejects.toMatchObject({ status: 400, code: 'validation_failed' })
  await expect(actions.run('mcp.shed.water', { minutes: 'x' }, call())).rejects.toMatchObject({ details: [{ path: 'body.minutes' }] })
  expect(asked).toEqual([])
  expect(await actions.run('mcp.shed.water', { minutes: 5 }, call())).toEqual({ output: 'Watered.' })
  expect(asked).toEqual([{ minutes: 5 }])
  const remote = {
    name: 'x',
    description: '',
    parameters: { $ref: 'http://127.0.0.1/s' },
    risk: 'low' as const,
    run: async () => ({ output: '' }),
  }
  expect(() => foreignAction(remote)).toThrow('leads out')
})

test('who may not is refused before anything runs, and each run is audited once, before its outcome is told', async () => {
  const audited: unknown[] = []
  const actions = createActionRegistry({
    audit: async ({ action: name, params }) => {
      audited.push({ begun: name, params })
      return async ({ result, error }) => void audited.push({ result, error })
    },
  })
  actions.add({ ...dim, name: 'lamp.burn', risk: 'high' })
  actions.add(dim)
  const member = { ...call(), caller: { ...call().caller, scope: 'member' as const } }
  const guest = { ...call(), caller: { ...call().caller, scope: 'guest' as const } }
  await expect(actions.run('lamp.burn', { level: 1 }, member)).rejects.toMatchObject({ status: 403 })
  await expect(actions.run('lamp.dim', { level: 1 }, guest)).rejects.toMatchObject({ status: 403 })
  expect([actions.list(member.caller), actions.list(guest.caller), actions.list(call().caller)].map((list) => list.length)).toEqual([
    1, 0, 2,
  ])
  await expect(actions.run('lamp.dim', { level: 'x' }, member)).rejects.toMatchObject({ status: 400 })
  expect(audited).toEqual([])
  await actions.run('lamp.dim', { level: 1 }, member)
  expect(audited).toMatchObject([
    { begun: 'lamp.dim', params: { level: 1, room: 'hall' } },
    { error: null, result: { output: expect.any(String) } },
  ])
})

test('what cannot be written down is not done', async () => {
  const full = new AppError(507, 'disk_full', 'No room.')
  const actions = createActionRegistry({
    audit: async () => {
      throw full
    },
  })
  let ran = 0
  const run = async () => ({ output: String(++ran) })
  actions.add({ ...dim, run })
  await expect(actions.run('lamp.dim', { level: 1 }, call())).rejects.toBe(full)
  expect(ran).toBe(0)
})

test('a schema is told without patterns that nobody can read, and they are checked all the same', () => {
  const { parameters, parse } = action({
    name: 'test.at',
    description: '',
    input: z.strictObject({ at: z.iso.datetime({ offset: true, local: true }), short: z.string().regex(/^[a-z]+$/) }),
    risk: 'low',
    run: async () => ({ output: '' }),
  })
  expect(parameters).toEqual({
    type: 'object',
    properties: { at: expect.not.objectContaining({ pattern: expect.anything() }), short: { type: 'string', pattern: '^[a-z]+$' } },
    required: ['at', 'short'],
    additionalProperties: false,
  })
  expect(() => parse({ at: 'tomorrow', short: 'a' })).toThrow('body.at')
})
