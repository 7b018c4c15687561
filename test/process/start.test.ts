import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer, type Socket } from 'node:net'
import { expect, test } from 'vitest'
import { send } from '../support/http.ts'
import { BY_ENVIRONMENT, dataRoot, PASSWORD, run, startServer } from '../support/process.ts'

/** Addresses that a port is bound to, as the kernel tells. */
function boundAddresses(port: number): string[] {
  const hex = port.toString(16).toUpperCase().padStart(4, '0')
  const listening = readFileSync('/proc/net/tcp', 'utf8').matchAll(new RegExp(`^\\s*\\d+: ([0-9A-F]{8}):${hex} \\S+ 0A `, 'gm'))
  return [...listening].map(
    ([, address = '']) =>
      address
        .match(/../g)
        ?.reverse()
        .map((byte) => Number.parseInt(byte, 16))
        .join('.') ?? '',
  )
}

test('a fresh house says that it is ready once, prints its PIN, and opens to the network on the same port once it is set up', async () => {
  using root = dataRoot()
  await using server = await startServer(root.path, { env: { SERVICE_HOST: '0.0.0.0' } })
  expect(server.stdout()).toMatch(/^Setup PIN: \d{6}\nHearth ready on http:\/\/127\.0\.0\.1:\d+\n$/)
  if (process.platform === 'linux') expect(boundAddresses(server.port)).toEqual(['127.0.0.1'])
  const refused = await server.stranger().fetch('/api/household')
  expect([refused.status, await refused.json()]).toMatchObject([503, { code: 'setup_required' }])

  const owner = await server.setUp()
  await expect.poll(() => send(`${server.url}/api/status`, {}, { from: '127.0.0.1' }).then(({ status }) => status)).toBe(200)
  if (process.platform === 'linux') expect(boundAddresses(server.port)).toEqual(['0.0.0.0'])
  expect((await owner.api.household.get()).persons).toHaveLength(1)

  const exit = await server.stop()
  expect(exit.status).toBe(0)
  expect(exit.stdout.match(/Hearth ready/g)).toHaveLength(1)
  expect(exit.stderr).toBe('')
})

test('a house that is set up starts on its configured address and prints no PIN', async () => {
  using root = dataRoot()
  {
    await using first = await startServer(root.path)
    await first.setUp()
    await first.stop()
  }
  await using server = await startServer(root.path)
  expect(server.stdout()).toMatch(/^Hearth ready on http:\/\/127\.0\.0\.1:\d+\n$/)
  const session = await (await server.owner()).api.auth.session()
  expect(session.user?.name).toBe('Ada')
})

test('five wrong PINs print a new one, and the door stays shut for a while even for it', async () => {
  using root = dataRoot()
  await using server = await startServer(root.path)
  const [, pin = ''] = await server.waitFor(/^Setup PIN: (\d{6})$/m)
  const wrong = pin === '000000' ? '000001' : '000000'
  const complete = (given: string) =>
    server.stranger().api.setup.complete({ body: { pin: given, owner: { name: 'Ada', password: PASSWORD } } })
  for (let tries = 0; tries < 5; tries++) await expect(complete(wrong)).rejects.toMatchObject({ status: 401, code: 'wrong_pin' })
  const [, renewed = ''] = await server.waitFor(/^Setup PIN: \d{6}\n[\s\S]*^Setup PIN: (\d{6})$/m)
  expect(renewed).not.toBe(pin)
  await expect(complete(renewed)).rejects.toMatchObject({ status: 429, retryAfterSec: expect.any(Number) })
  expect(server.stdout().match(/Setup PIN/g)).toHaveLength(2)
})

test('the environment can set a house up: no wizard, a household, a person and a kept token secret', async () => {
  using root = dataRoot()
  await using server = await startServer(root.path, { env: BY_ENVIRONMENT })
  expect(server.stdout()).not.toContain('PIN')
  expect(await server.stranger().api.setup.state()).toEqual({ required: false })
  const owner = await server.owner()
  expect((await owner.api.household.get()).persons).toMatchObject([{ role: 'owner' }])
  const secrets = readFileSync(root.file('config', 'secrets.env'), 'utf8')
  expect(secrets).toMatch(/^SERVICE_JWT_SECRET="?[0-9a-f]{64}"?\n$/)
  await server.stop()
  await using again = await startServer(root.path, { env: BY_ENVIRONMENT })
  expect(readFileSync(root.file('config', 'secrets.env'), 'utf8')).toBe(secrets)
  expect((await (await again.owner()).api.household.get()).persons).toHaveLength(1)
})

test('every fault of the environment is one line that names the variable, and the status says that trying again is no use', async () => {
  using root = dataRoot()
  const faulty = {
    SERVICE_PORT: '70000',
    SERVICE_HOST: 'the attic',
    SERVICE_LOG_LEVEL: 'loud',
    SERVICE_PUBLIC_URL: 'ftp://house',
    SERVICE_TRUSTED_PROXIES: '10.0.0.0/8,nonsense',
    SERVICE_RATE_LIMIT: '-1',
    SERVICE_OWNER_PASSWORD: 'short',
    SERVICE_JWT_SECRET: 'short',
    SERVICE_SECRETS_KEY: 'not hex',
    SERVICE_ALLOWED_EMAILS: 'ada',
    SERVICE_DISCOVERY: 'perhaps',
    AUTH_SECRET: 'short',
    AUTH_IDP_ISSUER: 'accounts',
    PLUG_DEVICE_IP: '1.2.3',
    SERVICE_TLS_CERT: '/nowhere',
    AUTH_IDP_ID: 'only the id',
  }
  const exit = await run('server.ts', root.path, { env: faulty }).exited
  const lines = exit.stderr.trimEnd().split('\n')
  for (const name of Object.keys(faulty)) expect(lines.filter((line) => line.includes(name))).toHaveLength(1)
  expect(lines).toHaveLength(Object.keys(faulty).length)
  expect(exit.stderr).not.toContain('not hex')
  expect([exit.status, exit.stdout]).toEqual([78, ''])
})

test.each([
  [
    'a certificate that is not there',
    { SERVICE_TLS_CERT: '/nowhere/cert.pem', SERVICE_TLS_KEY: '/nowhere/key.pem' },
    /^SERVICE_TLS_CERT.*\n$/,
  ],
  [
    'a certificate that is none',
    { SERVICE_TLS_CERT: import.meta.filename, SERVICE_TLS_KEY: import.meta.filename },
    /^SERVICE_TLS_CERT.*\n$/,
  ],
])('%s is told in one line and leaves no lock', async (_what, env, line) => {
  using root = dataRoot()
  const exit = await run('server.ts', root.path, { env }).exited
  expect(exit.stderr).toMatch(line)
  expect([exit.status, exit.stdout]).toEqual([78, ''])
  expect(() => readFileSync(root.file('hearth.lock'))).toThrow('ENOENT')
})

test.each([
  ['secrets.env', 'AUTH_SECRET="short"\n', /^AUTH_SECRET in config\/secrets\.env .*\n$/],
  [
    'settings.json',
    '{"SERVICE_PUBLIC_URL":7,"SERVICE_LLM_MODEL":[]}',
    /^SERVICE_PUBLIC_URL in config\/settings\.json.*\nSERVICE_LLM_MODEL in config\/settings\.json.*\n$/,
  ],
  ['settings.json', '{"SERVICE_', /^config\/settings\.json .*\n$/],
])('what cannot be right in config/%s is told like a fault of the environment', async (file, content, lines) => {
  using root = dataRoot()
  mkdirSync(root.file('config'))
  writeFileSync(root.file('config', file), content)
  const exit = await run('server.ts', root.path).exited
  expect(exit.stderr).toMatch(lines)
  expect(exit.status).toBe(78)
})

test('a data root that is a file is told in one line', async () => {
  using root = dataRoot()
  writeFileSync(root.file('data'), '')
  const exit = await run('server.ts', root.file('data')).exited
  expect(exit.stderr).toMatch(/^SERVICE_DATA_PATH .*\n$/)
  expect(exit.status).toBe(78)
})

test('a port in use is told in one line, and the data root stays free', async () => {
  using root = dataRoot()
  const other = createServer().listen(0, '127.0.0.1')
  await new Promise((resolve) => other.once('listening', resolve))
  const address = other.address()
  const port = String(typeof address === 'object' ? address?.port : '')
  const exit = await run('server.ts', root.path, { env: { ...BY_ENVIRONMENT, SERVICE_PORT: port } }).exited
  expect(exit.stderr).toMatch(new RegExp(`^Port ${port} .*in use.*\\n$`))
  expect([exit.status, exit.stdout]).toEqual([69, ''])
  await new Promise((resolve) => other.close(resolve))
  await using server = await startServer(root.path, { env: { ...BY_ENVIRONMENT, SERVICE_PORT: port } })
  expect((await server.stranger().api.status.get()).status).toBe('ok')
})

test('the internet and everything configured on it being silent does not hold the start up', async () => {
  using root = dataRoot()
  const asking = new Set<Socket>()
  const silent = createServer((socket) => {
    asking.add(socket)
    socket.once('close', () => asking.delete(socket)).on('error', () => undefined)
  })
  silent.listen(0, '127.0.0.1')
  await new Promise((resolve) => silent.once('listening', resolve))
  const address = silent.address()
  const url = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`
  const env = { ...BY_ENVIRONMENT, SERVICE_LLM_BASE_URL: `${url}/v1`, AUTH_IDP_ISSUER: url, AUTH_IDP_ID: 'id', AUTH_IDP_SECRET: 'secret' }
  await using server = await startServer(root.path, { env })
  await expect.poll(() => asking.size, { timeout: 3_000 }).toBeGreaterThan(0) // ready while it still waits for an answer
  expect((await server.stranger().api.status.get()).status).toBe('ok')
  expect((await (await server.owner()).api.auth.session()).user?.name).toBe('Owner')
  expect((await server.stop()).status).toBe(0)
  silent.close()
})
