import { expect, test, vi } from 'vitest'
import { STATUS_PAGE } from '../../main/local-pages.ts'
import { createShell } from '../../main/shell.ts'
import type { ServerState } from '../../main/supervisor.ts'

const URL_A = 'http://127.0.0.1:7420/'
const ready = (setupPin: string | null = null, url = URL_A): ServerState => ({ kind: 'ready', url, setupPin })

function open(signIn: (url: string) => Promise<void> = async () => undefined) {
  const loaded: string[] = []
  const failures: unknown[] = []
  const show = vi.fn()
  const shell = createShell({
    view: { address: () => loaded.at(-1) ?? '', load: (address) => loaded.push(address), show },
    signIn,
    onSignInFailed: (error) => failures.push(error),
  })
  return { shell, loaded, failures, show }
}

test('first boot leads to set-up with the PIN in the fragment, and set-up leads on by itself', async () => {
  const { shell, loaded } = open(async () => expect.unreachable('nobody to sign in yet'))
  shell.onState({ kind: 'starting' })
  shell.onState(ready('123456'))
  expect(loaded).toEqual([STATUS_PAGE, `${URL_A}setup#pin=123456`])
  shell.onState(ready('654321'))
  expect(loaded.at(-1)).toBe(`${URL_A}setup#pin=654321`)
  shell.onState(ready(null))
  await Promise.resolve()
  expect(loaded).toHaveLength(3)
})

test('the window signs in before its first page', async () => {
  const signedIn = vi.fn(async () => undefined)
  const { shell, loaded } = open(signedIn)
  expect(shell.origin()).toBeNull()
  shell.onState(ready())
  expect(loaded).toEqual([])
  await vi.waitFor(() => expect(loaded).toEqual([URL_A]))
  expect(signedIn).toHaveBeenCalledExactlyOnceWith(URL_A)
  expect(shell.origin()).toBe('http://127.0.0.1:7420')
})

test('a failed sign-in is told and shows the ordinary page', async () => {
  const { shell, loaded, failures } = open(() => Promise.reject(new Error('no')))
  shell.onState(ready())
  await vi.waitFor(() => expect(loaded).toEqual([URL_A]))
  expect(failures).toHaveLength(1)
})

test('a short crash leaves the page alone; a lasting one is told', async () => {
  const { shell, loaded } = open()
  shell.onState(ready())
  await vi.waitFor(() => expect(loaded).toHaveLength(1))
  shell.onState({ kind: 'restarting' })
  expect(shell.origin()).toBeNull()
  shell.onState(ready())
  await Promise.resolve()
  expect(loaded).toHaveLength(1)
  shell.onState({ kind: 'restarting' })
  shell.onState({ kind: 'gave-up', reason: 'why' })
  expect(loaded.at(-1)).toBe(STATUS_PAGE)
  shell.onState({ kind: 'starting' })
  shell.onState(ready())
  await vi.waitFor(() => expect(loaded.at(-1)).toBe(URL_A))
})

test('a server that comes back at another port gets a new sign-in', async () => {
  const signedIn = vi.fn(async () => undefined)
  const { shell, loaded } = open(signedIn)
  shell.onState(ready())
  await vi.waitFor(() => expect(loaded).toHaveLength(1))
  shell.onState({ kind: 'restarting' })
  shell.onState(ready(null, 'http://127.0.0.1:5000/'))
  await vi.waitFor(() => expect(loaded.at(-1)).toBe('http://127.0.0.1:5000/'))
  expect(signedIn).toHaveBeenCalledTimes(2)
})

test('a server lost during sign-in is not entered', async () => {
  const { promise, resolve } = Promise.withResolvers<void>()
  const { shell, loaded } = open(() => promise)
  shell.onState(ready())
  shell.onState({ kind: 'gave-up', reason: 'why' })
  resolve()
  await new Promise((done) => setImmediate(done))
  expect(loaded).toEqual([STATUS_PAGE])
})

test('a page asked for early is opened once the server is there, later ones at once', async () => {
  const { shell, loaded, show } = open()
  shell.open('/paired-devices')
  expect(show).toHaveBeenCalledTimes(1)
  shell.onState(ready())
  await vi.waitFor(() => expect(loaded).toEqual([`${URL_A}paired-devices`]))
  shell.open('/chat')
  shell.open(null)
  expect(loaded.at(-1)).toBe(`${URL_A}chat`)
  expect(show).toHaveBeenCalledTimes(3)
})
