import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createLocalPages, RESET_PASSWORD_PAGE, STATUS_PAGE } from '../../main/local-pages.ts'
import { texts } from '../../main/texts.ts'
import { trayMenu, windowMenu } from '../../main/tray.ts'
import { verbs } from '../../main/verbs.contract.ts'
import { offerVerbs, statusView } from '../../main/verbs.ts'

const FOLDER = join(import.meta.dirname, '..', '..', 'resources', 'desktop')
const REASON = `<img src=x onerror="alert(1)"> & 'quotes'`

function offer() {
  const done: string[] = []
  const listeners = new Map<string, (event: { senderFrame: { url: string } | null }, ...args: unknown[]) => unknown>()
  offerVerbs(
    { handle: (name, listener) => void listeners.set(name, listener) },
    {
      state: () => ({ kind: 'gave-up', reason: REASON }),
      resume: () => void done.push('resume'),
      quit: () => void done.push('quit'),
      resetPassword: async (password) => {
        done.push(password)
        return null
      },
    },
  )
  const call = (from: string | null, name: string, ...args: unknown[]) =>
    listeners.get(name)?.({ senderFrame: from === null ? null : { url: from } }, ...args)
  return { done, call, names: [...listeners.keys()] }
}

test('the native verbs are these and no others', () => {
  expect(offer().names.sort()).toEqual(Object.values(verbs).sort())
  const preload = readFileSync(join(import.meta.dirname, '..', '..', 'main', 'preload.ts'), 'utf8')
  expect(preload.match(/ipcRenderer\.\w+/g)).toEqual(Array(4).fill('ipcRenderer.invoke'))
})

test('only the shell’s own pages may call them', async () => {
  const { call, done } = offer()
  for (const from of ['http://127.0.0.1:7420/', 'https://evil.example/', 'file:///x', '', null]) {
    for (const name of Object.values(verbs)) expect(() => call(from, name, 'a long password')).toThrow('Not for this page')
  }
  expect(done).toEqual([])
  call(STATUS_PAGE, verbs.resume)
  await call(RESET_PASSWORD_PAGE, verbs.resetPassword, 'a long password')
  expect(done).toEqual(['resume', 'a long password'])
  expect(() => call(RESET_PASSWORD_PAGE, verbs.resetPassword, { length: 12 })).toThrow()
})

test('the status page says in words what is the matter and what can be done', () => {
  expect(offer().call(STATUS_PAGE, verbs.status)).toEqual({
    title: 'Hearth cannot start',
    text: REASON,
    act: texts.retry,
    quit: texts.quit,
  })
  expect(statusView({ kind: 'stopped' }).act).toBe(texts.resume)
  expect(statusView({ kind: 'starting' }).act).toBeNull()
})

test('the shell’s pages come from a fixed list, with a policy that allows no inline script', async () => {
  const answer = createLocalPages(FOLDER)
  for (const page of [STATUS_PAGE, RESET_PASSWORD_PAGE]) {
    const response = await answer({ url: page })
    const html = await response.text()
    expect(response.headers.get('content-security-policy')).toContain("default-src 'none'; script-src 'self'")
    expect(html).not.toContain('{{')
    expect(html).not.toMatch(/<script>|\son\w+=|style=/)
    for (const [, file] of html.matchAll(/(?:src|href)="([^"]+)"/g)) {
      expect((await answer({ url: new URL(file ?? '', page).href })).status).toBe(200)
    }
  }
  for (const path of ['/', '/../../package.json', '/%2e%2e/icon.png', '/status.html/', '/constructor', '/status.js%00']) {
    expect((await answer({ url: `hearth-shell://pages${path}` })).status).toBe(404)
  }
})

const labels = (menu: object[]): string[] => menu.flatMap((entry) => ('label' in entry ? [String(entry.label)] : []))

test('the tray tells the state and offers what fits it', () => {
  const acts = {
    open: () => undefined,
    pause: () => undefined,
    resume: () => undefined,
    resetPassword: () => undefined,
    quit: () => undefined,
  }
  const running = trayMenu({ kind: 'ready', url: 'http://127.0.0.1:1', setupPin: null }, acts)
  expect(labels(running)).toEqual([texts.status.ready, texts.open, texts.pause, texts.resetPassword, texts.quit])
  expect(running[3]).toMatchObject({ enabled: true })
  const paused = trayMenu({ kind: 'stopped' }, acts)
  expect(labels(paused)).toEqual([texts.status.stopped, texts.open, texts.resume, texts.resetPassword, texts.quit])
  expect(paused[3]).toMatchObject({ enabled: false })
  expect(labels(windowMenu({ kind: 'stopped' }, acts, 'linux'))).toContain(texts.name)
  expect(windowMenu({ kind: 'stopped' }, acts, 'darwin')[0]).toEqual({ role: 'appMenu' })
})
