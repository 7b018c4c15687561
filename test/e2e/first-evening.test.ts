import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Browser } from 'playwright'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { dataRoot, startServer } from '../support/process.ts'
import { writeScriptedGguf } from '../support/scripted-gguf.ts'
import { expectAccessible, freePort, openChromium, openContext, picture } from './browser.ts'
import { heard, PASSWORD, say, setUp } from './steps.ts'

let browser: Browser
beforeAll(async () => {
  expect(existsSync(join(import.meta.dirname, '..', '..', 'dist', 'renderer', 'index.html')), 'the window is built').toBe(true)
  browser = await openChromium()
})
afterAll(() => browser.close())

test.each([
  { name: 'localhost', host: 'localhost' },
  { name: 'a plain name without a secure context', host: 'hearth.test' },
])('a family’s first evening, at $name', { timeout: 180_000 }, async ({ host }) => {
  const shots = host
  using data = dataRoot()
  mkdirSync(data.file('models'), { recursive: true })
  writeScriptedGguf(data.file('models', 'scripted.gguf'))
  const env = { SERVICE_PORT: String(await freePort()), SERVICE_ALLOWED_HOSTS: 'hearth.test' }
  let server = await startServer(data.path, { env })
  const base = `http://${host}:${server.port}`
  const faults: string[][] = []
  try {
    // The owner sets the house up on its own machine, then uses it under the name of this round.
    const owner = await openContext(browser, 'desktop')
    faults.push(owner.faults)
    await setUp(owner.page, server, shots)
    if (host !== 'localhost') {
      await owner.page.goto(`${base}/chat`)
      await owner.page.getByLabel('Password', { exact: true }).fill(PASSWORD)
      await picture(owner.page, `${shots}-login`)
      await expectAccessible(owner.page)
      await owner.page.getByRole('button', { name: 'Sign in', exact: true }).click()
    }
    expect(await owner.page.evaluate(() => window.isSecureContext)).toBe(host === 'localhost')

    // The model answers, word by word.
    await say(owner.page, 'Please count for me')
    await heard(owner.page, 'one two three')
    await heard(owner.page, 'nineteen score')
    await picture(owner.page, `${shots}-chat-desktop`)
    await expectAccessible(owner.page)

    // A phone comes in through the link that the camera would open.
    await owner.page.goto(`${base}/paired-devices`)
    await owner.page.getByRole('button', { name: 'Add a device' }).first().click()
    const [started] = await Promise.all([
      owner.page.waitForResponse((response) => response.url().endsWith('/api/auth/pair/start')),
      owner.page.getByRole('button', { name: 'Show the code to scan' }).click(),
    ])
    const { webQr } = (await started.json()) as { webQr: string }
    await owner.page.getByText('Waiting for the device').waitFor()
    await picture(owner.page, `${shots}-pairing-desktop`)
    await expectAccessible(owner.page)
    const phone = await openContext(browser, 'phone', true)
    faults.push(phone.faults)
    await phone.page.goto(`${base}/pair${new URL(webQr).hash}`)
    await phone.page.getByText('Come in to The Lovelaces').waitFor()
    expect(new URL(phone.page.url()).hash).toBe('')
    await phone.page.getByLabel('Name of this device').fill('Bob’s phone')
    await picture(phone.page, `${shots}-pair-phone`)
    await expectAccessible(phone.page)
    await phone.page.getByRole('button', { name: 'Pair this device' }).click()
    await owner.page.getByText('Bob’s phone is paired.').waitFor()
    await say(phone.page, 'What is the weather like?')
    await heard(phone.page, 'It is sunny outside')
    await picture(phone.page, `${shots}-chat-phone-dark`)
    await expectAccessible(phone.page)

    // A TV shows a code, and the owner lets it in.
    const tv = await openContext(browser, 'tv')
    faults.push(tv.faults)
    await tv.page.goto(`${base}/pair`)
    const code = /[A-Z2-9]{3}-[A-Z2-9]{3}/
    await tv.page.getByText(code).first().waitFor()
    const shown = code.exec(await tv.page.locator('body').innerText())?.[0] ?? ''
    await picture(tv.page, `${shots}-pair-tv`)
    await expectAccessible(tv.page)
    await owner.page.goto(`${base}/paired-devices`)
    await owner.page.getByRole('button', { name: 'A TV shows a code' }).click()
    await owner.page.getByLabel('Code on the TV').fill(shown)
    await owner.page.getByRole('button', { name: 'Let it in' }).click()
    await say(tv.page, 'Write a line about the light')
    await heard(tv.page, 'Done, they are switched on now.')
    await picture(tv.page, `${shots}-chat-tv`)
    await expectAccessible(tv.page)
    await owner.page.getByRole('list', { name: 'Devices' }).getByText('TV', { exact: true }).waitFor()
    await picture(owner.page, `${shots}-paired-devices-desktop`)
    await expectAccessible(owner.page)

    // The plug is pulled while the house is talking: nothing that was seen is lost.
    await owner.page.goto(`${base}/chat`)
    await say(owner.page, 'Go on forever')
    await heard(owner.page, 'round after lap goes past another bend')
    await owner.page.waitForTimeout(500)
    const talk = owner.page.url()
    await server.kill()
    const seen = /round after lap[a-z, ]*/.exec(await owner.page.locator('main').innerText())?.[0].trim() ?? ''
    expect(seen.length).toBeGreaterThan(40)
    server = await startServer(data.path, { env })
    await owner.page.goto(talk)
    await heard(owner.page, 'round after lap')
    expect((await owner.page.locator('main').innerText()).replaceAll(/\s+/g, ' ')).toContain(seen.replaceAll(/\s+/g, ' '))
    await picture(owner.page, `${shots}-after-the-crash`)

    // Everyone is still who they were.
    await phone.page.reload()
    await heard(phone.page, 'It is sunny outside')
    await tv.page.reload()
    await say(tv.page, 'What is the weather like?')
    await heard(tv.page, 'It is sunny outside')
    expect(faults.flat()).toEqual([])
  } finally {
    await server.stop()
    for (const context of browser.contexts()) await context.close()
  }
})
