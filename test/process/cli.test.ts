import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { expect, test, vi } from 'vitest'
import { BY_ENVIRONMENT, dataRoot, type Exit, PASSWORD, type RunOptions, run, startServer } from '../support/process.ts'

vi.setConfig({ testTimeout: 120_000 })

const NEW_PASSWORD = 'a wholly other password'

/** Runs a terminal tool with all of its answers on standard input from the start, as a script would. */
function tool(name: 'setup' | 'reset-owner', dataPath: string, answers: string[], env: RunOptions['env'] = {}): Promise<Exit> {
  const child = run(`cli/${name}.ts`, dataPath, { env })
  child.type(answers.map((answer) => `${answer}\n`).join(''))
  child.type(null)
  return child.exited
}

test('a house is set up from the terminal, by answers that come all at once or one by one', async () => {
  using root = dataRoot()
  await using server = await startServer(root.path)
  const env = { SERVICE_PORT: String(server.port) }
  const [, pin = ''] = await server.waitFor(/^Setup PIN: (\d{6})$/m)
  const wrong = await tool('setup', root.path, [pin === '111111' ? '222222' : '111111', 'Ada', PASSWORD, ''], env)
  expect(wrong.stdout).toContain('This is not the PIN in the log.')
  expect([wrong.status, wrong.stderr]).toEqual([1, ''])

  const typed = run('cli/setup.ts', root.path, { env })
  await typed.waitFor(/PIN.*: $/)
  typed.type(`${pin}\n`)
  await typed.waitFor(/Your name: $/)
  typed.type('Ada\n')
  await typed.waitFor(/password.*: $/)
  typed.type('short\n')
  await typed.waitFor(/household.*: $/)
  typed.type('\n')
  expect(await typed.exited).toMatchObject({ status: 1, stdout: expect.stringContaining('at least 10 characters') })

  const exit = await tool('setup', root.path, [pin, 'Ada', PASSWORD, 'The Hill'], env)
  expect(exit.stdout).toContain('Welcome, Ada.')
  expect([exit.status, exit.stderr]).toEqual([0, ''])
  expect(exit.stdout).not.toContain(PASSWORD)
  const owner = await server.owner()
  expect((await owner.api.household.get()).household.displayName).toBe('The Hill')
  expect(await tool('setup', root.path, [], env)).toMatchObject({ status: 0, stdout: 'This Hearth is set up already.\n' })
})

test('set-up from the terminal says so when no server answers, and when the answers end too early', async () => {
  using root = dataRoot()
  const none = await tool('setup', root.path, ['123456'], { SERVICE_PORT: '9' })
  expect([none.status, none.stdout, none.stderr]).toEqual([1, 'No Hearth answers at http://127.0.0.1:9. Start it first.\n', ''])
  await using server = await startServer(root.path)
  const early = await tool('setup', root.path, ['123456', 'Ada'], { SERVICE_PORT: String(server.port) })
  expect([early.status, early.stderr]).toEqual([1, ''])
  expect(await server.stranger().api.setup.state()).toEqual({ required: true })
})

test('a new owner password signs every browser out of a server that goes on running', async () => {
  using root = dataRoot()
  await using server = await startServer(root.path)
  const before = await server.setUp()
  const short = await tool('reset-owner', root.path, ['short'])
  expect([short.status, short.stdout.trimEnd().split('\n').at(-1)]).toEqual([1, 'That is too short. Nothing was changed.'])
  expect((await before.api.auth.session()).user?.name).toBe('Ada')

  const exit = await tool('reset-owner', root.path, [NEW_PASSWORD])
  expect([exit.status, exit.stdout.trimEnd().split('\n').at(-1)]).toEqual([0, 'The password is set. Every browser has to sign in again.'])
  expect(exit.stdout + exit.stderr).not.toContain(NEW_PASSWORD)
  expect((await before.api.auth.session()).user).toBeNull()
  await expect(server.owner()).rejects.toMatchObject({ status: 401 })
  const signedIn = await server.stranger().fetch('/api/auth/local', {
    method: 'POST',
    body: JSON.stringify({ password: NEW_PASSWORD }),
    headers: { 'content-type': 'application/json' },
  })
  expect(signedIn.status).toBe(204)
  expect((await server.stop()).status).toBe(0)
})

test('the password tool changes nothing where it must not: no data, the environment’s password, damage, faults', async () => {
  using root = dataRoot()
  const lastLine = ({ stdout }: Exit) => stdout.trimEnd().split('\n').at(-1)
  const none = await tool('reset-owner', root.path, [NEW_PASSWORD])
  expect([none.status, lastLine(none)]).toEqual([1, `There is no Hearth in ${root.path} yet.`])
  expect(readdirSync(root.path)).toEqual([])

  const fault = await tool('reset-owner', root.path, [NEW_PASSWORD], { SERVICE_PORT: 'many' })
  expect([fault.status, fault.stderr]).toEqual([78, expect.stringMatching(/^SERVICE_PORT .*\n$/)])

  {
    await using server = await startServer(root.path, { env: BY_ENVIRONMENT })
    const fixed = await tool('reset-owner', root.path, [NEW_PASSWORD], BY_ENVIRONMENT)
    expect([fixed.status, lastLine(fixed)]).toEqual([1, expect.stringContaining('SERVICE_OWNER_PASSWORD')])
    await server.owner()
    await server.stop()
  }
  const damaged = Buffer.concat([Buffer.alloc(4096, 'z'), readFileSync(root.file('hearth.sqlite')).subarray(4096)])
  writeFileSync(root.file('hearth.sqlite'), damaged)
  const refused = await tool('reset-owner', root.path, [NEW_PASSWORD])
  expect([refused.status, lastLine(refused)]).toEqual([1, expect.stringContaining('damaged')])
  expect(readFileSync(root.file('hearth.sqlite')).equals(damaged)).toBe(true)
})
