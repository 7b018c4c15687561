import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Koa from 'koa'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createFactsReader } from '../../server/kit/request-facts.ts'
import { createPages } from '../../server/pages.ts'
import { send } from '../support/http.ts'

let folder: string
let server: Server
let url: string
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'hearth-pages-'))
  mkdirSync(join(folder, 'assets'))
  mkdirSync(join(folder, '.vite'))
  for (const [name, content] of [
    ['index.html', '<html><head></head></html>'],
    ['icon.svg', '<svg/>'],
    ['assets/app-1.js', 'let one'],
    ['assets/app-1.css', 'p {}'],
    ['.vite/manifest.json', '{"secret":1}'],
    ['.env', 'SECRET=1'],
  ] as const) {
    writeFileSync(join(folder, name), content)
  }
  const koa = new Koa()
  koa.use(
    createPages({
      root: folder,
      isSetUp: () => true,
      readFacts: createFactsReader([]),
      signIn: () => ({ content: 'password', at: '"<&' }),
    }),
  )
  const callback = koa.callback()
  server = createServer((req, res) => void callback(req, res))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterEach(async () => {
  const closed = new Promise((resolve) => server.close(resolve))
  server.closeAllConnections()
  await closed
  rmSync(folder, { recursive: true, force: true })
})

test('files come with their type, live long under a name that never changes, and are not sent twice', async () => {
  const script = await fetch(`${url}/assets/app-1.js`)
  expect([script.status, await script.text()]).toEqual([200, 'let one'])
  expect(script.headers.get('content-type')).toMatch(/^(text|application)\/javascript/)
  expect(script.headers.get('cache-control')).toContain('immutable')
  expect((await fetch(`${url}/icon.svg`)).headers.get('cache-control')).toBe('no-cache')
  expect((await fetch(`${url}/icon.svg`)).headers.get('content-type')).toContain('image/svg+xml')
  const again = await send(`${url}/assets/app-1.js`, { headers: { 'if-none-match': script.headers.get('etag') ?? '' } })
  expect([again.status, await again.text()]).toEqual([304, ''])
  const head = await fetch(`${url}/assets/app-1.css`, { method: 'HEAD' })
  expect([head.status, head.headers.get('content-length'), await head.text()]).toEqual([200, '4', ''])
})

test('the document is one for all pages, and 404 where nothing is; hidden files are nothing', async () => {
  for (const path of ['/', '/chat', '/chat/7', '/settings']) expect((await fetch(url + path)).status, path).toBe(200)
  for (const path of ['/nowhere', '/assets/app-2.js', '/index.html', '/.env', '/.vite/manifest.json', '/assets', '/assets/']) {
    const answer = await fetch(url + path)
    expect([answer.status, (await answer.text()).includes('SECRET')], path).toEqual([404, false])
  }
  expect(await (await fetch(`${url}/chat`)).text()).toContain('<meta name="hearth-sign-in" content="password" data-at="&quot;&lt;&amp;">')
  const posted = await fetch(`${url}/assets/app-1.js`, { method: 'POST' })
  expect([posted.status, posted.headers.get('allow')]).toEqual([405, 'GET, HEAD'])
})

test('a rebuild that takes the files away takes nothing from a server that runs', async () => {
  rmSync(folder, { recursive: true })
  expect(await (await fetch(`${url}/assets/app-1.js`)).text()).toBe('let one')
  expect(await (await fetch(`${url}/chat`)).text()).toContain('hearth-sign-in')
})
