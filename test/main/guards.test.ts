import { EventEmitter } from 'node:events'
import { expect, test, vi } from 'vitest'
import { isLocalPage, mayNavigate, mayOpenOutside, mayRequest, mayUse } from '../../main/guards.ts'
import { STATUS_PAGE } from '../../main/local-pages.ts'
import { guardContents, guardSession, windowOptions } from '../../main/window.ts'

const OWN = 'http://127.0.0.1:7420'

const FOREIGN = [
  'https://evil.example/',
  'http://evil.example:7420/',
  'http://127.0.0.1:7421/',
  'http://127.0.0.1/',
  'https://127.0.0.1:7420/',
  'http://127.0.0.1:7420.evil.example/',
  'http://127.0.0.1:7420@evil.example/',
  'http://owner:secret@127.0.0.1:7420/',
  'http://127.0.0.2:7420/',
  'file:///etc/passwd',
  'javascript:alert(1)',
  'data:text/html,<script>alert(1)</script>',
  `blob:${OWN}/0b0ff7a6-2f0f-4f1b-9f8e-000000000000`,
  'about:blank',
  'chrome://gpu',
  'devtools://devtools/bundled/inspector.html',
  'view-source:http://127.0.0.1:7420/',
  'filesystem:http://127.0.0.1:7420/temporary/x',
  'hearth://open',
  STATUS_PAGE,
  '',
  'not an address',
]

const INSIDE = [`${OWN}/`, `${OWN}/chat`, `${OWN}/api/status?x=1#y`]

class Contents extends EventEmitter {
  opened: ((details: { url: string }) => { action: 'deny' }) | undefined
  setWindowOpenHandler(handler: (details: { url: string }) => { action: 'deny' }): void {
    this.opened = handler
  }
  /** Whether the guarded contents let an event pass. */
  passes(name: string, url: string): boolean {
    const preventDefault = vi.fn()
    this.emit(name, { preventDefault }, url)
    return preventDefault.mock.calls.length === 0
  }
}

test.each(FOREIGN)('the window does not go to %s', (url) => {
  const contents = new Contents()
  guardContents(contents, { origin: () => OWN, openOutside: () => undefined })
  expect(mayNavigate(url, OWN)).toBe(false)
  expect(contents.passes('will-navigate', url)).toBe(false)
  expect(contents.passes('will-redirect', url)).toBe(false)
})

test.each(INSIDE)('the window goes to %s', (url) => {
  const contents = new Contents()
  guardContents(contents, { origin: () => OWN, openOutside: () => undefined })
  expect(contents.passes('will-navigate', url)).toBe(true)
  expect(contents.passes('will-redirect', url)).toBe(true)
})

test('while no server runs the window goes nowhere by itself', () => {
  for (const url of [...INSIDE, ...FOREIGN]) expect(mayNavigate(url, null)).toBe(false)
})

test('an embedded browser is never attached', () => {
  const contents = new Contents()
  guardContents(contents, { origin: () => OWN, openOutside: () => undefined })
  for (const url of INSIDE) expect(contents.passes('will-attach-webview', url)).toBe(false)
})

test('no second window opens; only https and mailto are handed to the system', () => {
  const outside: string[] = []
  const contents = new Contents()
  guardContents(contents, { origin: () => OWN, openOutside: (url) => outside.push(url) })
  const tried = [
    'file:///etc/passwd',
    'smb://host/share',
    'ms-msdt:/id',
    'javascript:alert(1)',
    'http://evil.example',
    'vscode://x',
    'https://example.org/a',
    'mailto:ada@example.org',
    '',
  ]
  for (const url of tried) expect(contents.opened?.({ url })).toEqual({ action: 'deny' })
  expect(outside).toEqual(['https://example.org/a', 'mailto:ada@example.org'])
  expect(mayOpenOutside('HTTPS://example.org')).toBe(true)
})

interface Rules {
  ask(permission: string, url: string): boolean
  check(permission: string, url: string): boolean
  blocks(url: string): boolean
}

/** A session's rules as guardSession set them. */
function sessionRules(origin: string | null): Rules {
  const rules: Partial<Rules> = {}
  guardSession(
    {
      setPermissionRequestHandler: (handler) => {
        rules.ask = (permission, requestingUrl) => {
          const answer = vi.fn<(granted: boolean) => void>()
          handler(null, permission, answer, { requestingUrl })
          return answer.mock.lastCall?.[0] ?? false
        }
      },
      setPermissionCheckHandler: (handler) => {
        rules.check = (permission, url) => handler(null, permission, url)
      },
      webRequest: {
        onBeforeRequest: (listener) => {
          rules.blocks = (url) => {
            const answer = vi.fn<(response: { cancel: boolean }) => void>()
            listener({ url }, answer)
            return answer.mock.lastCall?.[0].cancel ?? true
          }
        },
      },
    },
    { origin: () => origin },
  )
  return rules as Rules
}

test('permissions are refused but for copying, and that only to the own pages', () => {
  const { ask, check } = sessionRules(OWN)
  const refused = [
    'media',
    'geolocation',
    'notifications',
    'midi',
    'openExternal',
    'fullscreen',
    'clipboard-read',
    'hid',
    'serial',
    'usb',
    'unheard-of',
  ]
  for (const permission of refused) {
    expect(ask(permission, `${OWN}/chat`)).toBe(false)
    expect(check(permission, OWN)).toBe(false)
  }
  expect(ask('clipboard-sanitized-write', `${OWN}/chat`)).toBe(true)
  expect(check('clipboard-sanitized-write', OWN)).toBe(true)
  expect(ask('clipboard-sanitized-write', 'https://evil.example/')).toBe(false)
  expect(mayUse('clipboard-sanitized-write', OWN, null)).toBe(false)
})

test('the session loads from its server alone, over HTTP and socket', () => {
  const { blocks } = sessionRules(OWN)
  const own = [...INSIDE, 'ws://127.0.0.1:7420/ws', STATUS_PAGE, 'data:image/png;base64,AA==', `blob:${OWN}/0b0ff7a6`]
  for (const url of own) expect(blocks(url)).toBe(false)
  const foreign = [
    'https://evil.example/x.js',
    'http://127.0.0.1:7421/',
    'ws://evil.example/',
    'wss://127.0.0.1:7420/ws',
    'file:///etc/passwd',
    'blob:https://evil.example/1',
    'ftp://127.0.0.1:7420/',
    '',
  ]
  for (const url of foreign) expect(blocks(url)).toBe(true)
  expect(sessionRules(null).blocks(`${OWN}/`)).toBe(true)
  expect(mayRequest('wss://box.example/ws', 'https://box.example')).toBe(true)
})

test('only the own scheme counts as a page of the shell', () => {
  expect(isLocalPage(STATUS_PAGE)).toBe(true)
  for (const url of [...INSIDE, ...FOREIGN.filter((url) => url !== STATUS_PAGE)]) expect(isLocalPage(url)).toBe(false)
})

test('every window is isolated, sandboxed and without Node', () => {
  expect(windowOptions({ preload: 'p', icon: 'i' }).webPreferences).toMatchObject({
    contextIsolation: true,
    sandbox: true,
    nodeIntegration: false,
    nodeIntegrationInWorker: false,
    nodeIntegrationInSubFrames: false,
    webSecurity: true,
    webviewTag: false,
  })
})
