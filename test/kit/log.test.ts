import { execFileSync, spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { redactText } from '../../server/kit/log.ts'

const LOG = join(import.meta.dirname, '..', '..', 'server', 'kit', 'log.ts')

/** What a process of its own writes that has `log` at this level and runs `source`. */
function written(source: string, level = 'trace'): Record<string, unknown>[] {
  const script = `import { createLog } from ${JSON.stringify(LOG)}; const log = createLog(${JSON.stringify(level)}); ${source}`
  const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' })
  expect(stdout).toBe('')
  return stderr
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>)
}

test('each entry is one line of JSON with its level and time, whatever it holds', () => {
  const lines = written(`
    log.info('up')
    log.warn({ path: 'a\\nb' }, 'line\\nbreak "quoted" \\u2028')
    log.error({ err: new TypeError('broken') }, 'failed')`)
  expect(lines).toMatchObject([
    { level: 'info', msg: 'up', time: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/) },
    { level: 'warn', msg: 'line\nbreak "quoted" \u2028', path: 'a\nb' },
    { level: 'error', msg: 'failed', err: { type: 'TypeError', message: 'broken', stack: expect.stringContaining('TypeError: broken') } },
  ])
})

test('less than the level is not written', () => {
  expect(written(`log.info('no'); log.warn('yes')`, 'warn').map(({ msg }) => msg)).toEqual(['yes'])
})

const SECRET = 'S3cretS3cretS3cret'

/** Where credentials have been seen in logs, and a log call of each kind. */
const PLACES: [where: string, fields: string][] = [
  [
    'a field',
    `{ password: '${SECRET}', token: '${SECRET}', key: '${SECRET}', cookie: '${SECRET}', authorization: '${SECRET}', pin: '${SECRET}' }`,
  ],
  [
    'fields further in',
    `{ request: { headers: { authorization: 'Bearer ${SECRET}', cookie: 'hearth_session=${SECRET}' } }, body: { owner: { password: '${SECRET}' } } }`,
  ],
  ['a query in a field', `{ url: '/ws?token=${SECRET}&x=1', deep: { list: ['/cb?code=${SECRET}&state=${SECRET}'] } }`],
  ['an error’s message and stack', `{ err: new Error('GET /api?key=${SECRET} failed') }`],
  ['the cause of an error', `{ err: new Error('outer', { cause: new Error('refresh_token=${SECRET}') }) }`],
  [
    'the fields of an error',
    `{ err: Object.assign(new Error('x'), { token: '${SECRET}', response: { url: 'https://idp/?client_secret=${SECRET}' } }) }`,
  ],
  ['a key of this server', `{ given: 'hk_${SECRET}' }`],
  ['a cookie in a text', `{ line: 'Cookie: a=b; __Host-hearth_session=${SECRET}; hearth_device=${SECRET}' }`],
  ['settings in a text', `{ line: 'AUTH_SECRET=${SECRET} SERVICE_JWT_SECRET=${SECRET} SERVICE_OWNER_PASSWORD=${SECRET}' }`],
]

test('no credential is written, wherever it stands', () => {
  const calls = PLACES.map(([where, fields]) => `log.info(${fields}, ${JSON.stringify(where)})`)
  const lines = written([...calls, `log.info('in a text: Bearer ${SECRET} and token=${SECRET}')`].join(';'))
  expect(lines).toHaveLength(PLACES.length + 1)
  for (const line of lines) {
    expect(JSON.stringify(line)).not.toContain(SECRET)
    expect(JSON.stringify(line)).toContain('[redacted]')
  }
})

test('what surrounds a credential stays readable', () => {
  expect(redactText('GET /ws?token=abcdefgh&lastSeq=7 failed')).toBe('GET /ws?token=[redacted]&lastSeq=7 failed')
  expect(redactText('{"a":"token=abcdefgh","b":"c"}')).toBe('{"a":"token=[redacted]","b":"c"}')
  expect(redactText(String.raw`{"a":"key=\"quoted\"","b":1}`)).toBe(String.raw`{"a":"key=\"quoted\"","b":1}`)
  expect(redactText('the keyboard has a code of 7; monkey business')).toBe('the keyboard has a code of 7; monkey business')
})

test.each(['token', 'a', 'a-', 'Bearer ', 'hk_', 'key=', ' '])('a long text of %j costs little', (part) => {
  const startedAt = performance.now()
  redactText(part.repeat(100_000))
  expect(performance.now() - startedAt).toBeLessThan(10_000)
})

test('a reader of the log that goes away does not end the process', () => {
  const script = `import { createLog } from ${JSON.stringify(LOG)}; const log = createLog('info')
    for (let at = 0; at < 2000; at++) log.info({ at }, 'x'.repeat(200)); process.stdout.write('alive')`
  const command = `"$0" --input-type=module -e "$1" 2>&1 >&3 | head -c 100 >/dev/null`
  const out = execFileSync('sh', ['-c', `{ ${command}; } 3>&1`, process.execPath, script], { encoding: 'utf8' })
  expect(out).toBe('alive')
})
