import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { json } from '../support/credentials.ts'
import { type Browser, type House, startHouse } from '../support/house.ts'
import { exchange, rawRequest } from '../support/raw-http.ts'

let house: House
let owner: Browser
let host: string
beforeAll(async () => {
  house = await startHouse()
  owner = await house.owner()
  host = new URL(house.url).host
})
afterAll(() => house[Symbol.asyncDispose]())

test('no address leads to a file outside the window’s own', async () => {
  const inside = readdirSync(join(import.meta.dirname, '..', '..', 'dist', 'renderer'))
  expect(inside).toContain('index.html')
  const targets = [
    '/../package.json',
    '/..%2fpackage.json',
    '/..%2f..%2fpackage.json',
    '/%2e%2e/%2e%2e/package.json',
    '/assets/../../../package.json',
    '/assets/..%2f..%2f..%2fpackage.json',
    '/assets/..%5c..%5c..%5cpackage.json',
    '/....//....//package.json',
    '/assets/%00',
    '/assets/index.html%00.js',
    '/.env',
    '/config/secrets.env',
    '/hearth.sqlite',
    '/index.html',
    '//etc/passwd',
    '/etc/passwd',
    '/%2fetc%2fpasswd',
    'file:///etc/passwd',
    `http://${host}/../package.json`,
  ]
  for (const target of targets) {
    const { status, text } = await exchange(house.url, rawRequest(`GET ${target} HTTP/1.1`, [`Host: ${host}`]))
    expect([400, 403, 404], `${target}: ${text.slice(0, 200)}`).toContain(status)
    expect(text, target).not.toMatch(/"devDependencies"|root:x:0|AUTH_SECRET|SQLite format/)
  }
})

/** Headers of every page and file of the window. */
function expectPageHeaders({ headers }: Response, about: string): void {
  const policy = headers.get('content-security-policy') ?? ''
  for (const rule of [
    "default-src 'self'",
    "script-src 'self'",
    "object-src 'none'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
    "form-action 'self'",
  ])
    expect(policy.split('; '), about).toContain(rule)
  expect(policy, about).not.toMatch(/unsafe-|\*|data:.*script|http:/)
  expect(headers.get('x-content-type-options'), about).toBe('nosniff')
  expect(headers.get('referrer-policy'), about).toBe('same-origin')
  expect(headers.get('cross-origin-opener-policy'), about).toBe('same-origin')
  expect(headers.get('x-request-id'), about).toMatch(/^[\w-]{3,}$/)
  for (const name of ['strict-transport-security', 'x-powered-by', 'server', 'access-control-allow-origin'])
    expect(headers.get(name), `${about} ${name}`).toBeNull()
}

test('every page forbids foreign scripts, frames and guesses, and holds none of its own inline', async () => {
  for (const path of [
    '/',
    '/login',
    '/chat',
    '/chat/1',
    '/notifications',
    '/paired-devices',
    '/settings',
    '/trust',
    '/pair',
    '/docs',
    '/setup',
    '/nothing',
    '/a/b/c',
    '/login?x=<script>',
  ]) {
    for (const ask of [house.stranger().fetch, owner.fetch]) {
      const answer = await ask(path, { headers: { 'x-forwarded-host': 'evil.example' } })
      const html = await answer.text()
      expect(answer.status, path).toBe(path === '/setup' || path.startsWith('/nothing') || path.startsWith('/a/') ? 404 : 200)
      expectPageHeaders(answer, path)
      expect(html, path).not.toMatch(/<script(?![^>]*\ssrc=)|\son\w+=|javascript:|evil\.example|<script>/i)
    }
  }
  const [asset = ''] = readdirSync(join(import.meta.dirname, '..', '..', 'dist', 'renderer', 'assets')).filter((name) =>
    name.endsWith('.js'),
  )
  const file = await house.stranger().fetch(`/assets/${asset}`)
  expect(file.status).toBe(200)
  expectPageHeaders(file, 'asset')
})

test('a page is only to be read', async () => {
  for (const method of ['POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS']) {
    for (const path of ['/', '/login', '/setup', '/nothing']) {
      const answer = await owner.fetch(path, { method, headers: { 'content-type': 'application/json' }, body: '{}' })
      expect(answer.status, `${method} ${path}`).toBe(405)
      expect(answer.headers.get('allow')).toBe('GET, HEAD')
      expectPageHeaders(answer, `${method} ${path}`)
      expect(await answer.json()).toMatchObject({ code: 'method_not_allowed', requestId: answer.headers.get('x-request-id') })
    }
  }
})

test('answers of the API may not be framed, kept or read by other sites', async () => {
  const answers = [
    await house.stranger().fetch('/api/status'),
    await owner.fetch('/api/keys'),
    await owner.fetch('/api/keys', { headers: { origin: 'https://evil.example' } }),
    await house.stranger().fetch('/api/nothing'),
    await owner.fetch('/api/chat', json({ message: 'Hello' })),
  ]
  for (const { headers, url } of answers) {
    expect(headers.get('content-security-policy'), url).toBe("default-src 'none'; frame-ancestors 'none'")
    expect(headers.get('cache-control'), url).toBe('no-store')
    expect(headers.get('cross-origin-resource-policy'), url).toBe('same-origin')
    for (const name of [
      'access-control-allow-origin',
      'access-control-allow-credentials',
      'strict-transport-security',
      'x-powered-by',
      'server',
    ])
      expect(headers.get(name), name).toBeNull()
  }
  const preflight = await house
    .stranger()
    .fetch('/api/keys', { method: 'OPTIONS', headers: { origin: 'https://evil.example', 'access-control-request-method': 'POST' } })
  expect(preflight.status).toBe(401)
  expect([...preflight.headers.keys()].filter((name) => name.startsWith('access-control'))).toEqual([])
})
