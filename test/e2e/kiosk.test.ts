import type { Page } from 'playwright'
import { expect, test, vi } from 'vitest'
import { PASSWORD } from '../support/process.ts'
import { expectAccessible, picture, type screens } from './browser.ts'
import { setStage } from './stage.ts'

vi.setConfig({ testTimeout: 120_000 })

const stage = setStage({ SERVICE_ALLOWED_HOSTS: 'hearth.test' })

const soon = <T>(read: () => T) => expect.poll(read, { timeout: 20_000 })

/** The settings, signed in as the stage.owner. */
async function openSettings(host: string, screen: keyof typeof screens, prepare?: (page: Page) => Promise<void>): Promise<Page> {
  const { page } = await stage.open(screen)
  await prepare?.(page)
  await page.goto(`http://${host}:${stage.server.port}/settings`)
  await page.getByLabel('Password', { exact: true }).fill(PASSWORD)
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()
  await section(page).waitFor()
  return page
}

const section = (page: Page) => page.getByRole('region', { name: 'A screen on the wall' })
const keepOn = (page: Page) => section(page).getByRole('switch', { name: 'Keep this screen on' })
const areas = (page: Page) => page.getByRole('navigation', { name: 'Areas' })

/** Stands in for the screen of the device: counts what is asked for and held, and can take it away. */
async function fakeWakeLock(page: Page): Promise<void> {
  await page.addInitScript(() => {
    const screen = { asked: 0, held: 0, refuses: false, takeAway: () => undefined as unknown }
    class Sentinel extends EventTarget {
      released = false
      async release() {
        if (this.released) return
        this.released = true
        screen.held--
        this.dispatchEvent(new Event('release'))
      }
    }
    const request = async () => {
      screen.asked++
      if (screen.refuses) throw new DOMException('The battery is low.', 'NotAllowedError')
      const sentinel = new Sentinel()
      screen.held++
      screen.takeAway = () => sentinel.release()
      return sentinel
    }
    Object.defineProperty(navigator, 'wakeLock', { value: { request } })
    Object.assign(window, { screenOfTest: screen })
  })
}

type ScreenOfTest = { screenOfTest: { asked: number; held: number; refuses: boolean; takeAway(): unknown } }
const wakeLock = (page: Page) =>
  page.evaluate(() => {
    const { asked, held } = (window as unknown as ScreenOfTest).screenOfTest
    return { asked, held }
  })
const comeBack = (page: Page) => page.evaluate(() => void document.dispatchEvent(new Event('visibilitychange')))

test('a screen is kept on, asked for anew when the window comes back, and let go', async () => {
  const page = await openSettings('localhost', 'desktop', fakeWakeLock)
  expect(await wakeLock(page)).toEqual({ asked: 0, held: 0 })
  await keepOn(page).click()
  await section(page).getByText('This screen stays on.').waitFor()
  expect(await wakeLock(page)).toEqual({ asked: 1, held: 1 })
  await expectAccessible(page)
  await page.evaluate(() => void (window as unknown as ScreenOfTest).screenOfTest.takeAway())
  await section(page).getByText('This screen stays on.').waitFor({ state: 'detached' })
  await comeBack(page)
  await section(page).getByText('This screen stays on.').waitFor()
  await comeBack(page)
  expect(await wakeLock(page)).toEqual({ asked: 2, held: 1 })

  await page.reload()
  await section(page).getByText('This screen stays on.').waitFor()
  expect(await wakeLock(page)).toEqual({ asked: 1, held: 1 })
  await page.evaluate(() => {
    const { screenOfTest } = window as unknown as ScreenOfTest
    screenOfTest.refuses = true
    void screenOfTest.takeAway()
  })
  await comeBack(page)
  await section(page).getByText('The device did not allow it').waitFor()
  await page.evaluate(() => {
    ;(window as unknown as ScreenOfTest).screenOfTest.refuses = false
  })
  await comeBack(page)
  await section(page).getByText('This screen stays on.').waitFor()
  await keepOn(page).click()
  await soon(async () => (await wakeLock(page)).held).toBe(0)
  await page.reload()
  await keepOn(page).waitFor()
  expect(await wakeLock(page)).toEqual({ asked: 0, held: 0 })
})

test('on plain HTTP it says what is missing, and the areas can be hidden all the same', async () => {
  const page = await openSettings('hearth.test', 'phone')
  await section(page).getByText('Browsers keep a screen on over HTTPS only').waitFor()
  expect(await keepOn(page).isDisabled()).toBe(true)
  expect(await section(page).getByRole('link', { name: 'Use the secure connection' }).getAttribute('href')).toBe('/trust')
  await section(page).scrollIntoViewIfNeeded()
  await picture(page, 'settings-screen-phone')
  await expectAccessible(page)

  const hide = async () => {
    await section(page).getByRole('button', { name: 'Hide the areas' }).click()
    await page.getByRole('list', { name: 'Your house' }).waitFor()
    await areas(page).waitFor({ state: 'detached' })
  }
  await hide()
  await page.getByText('Nothing is running').waitFor()
  await picture(page, 'home-bare-phone')
  await expectAccessible(page)
  await page.reload()
  await page.getByRole('list', { name: 'Your house' }).waitFor()
  expect(await areas(page).count()).toBe(0)
  await page.keyboard.press('Escape')
  await areas(page).waitFor()

  await page.goBack()
  await hide()
  // From another page one goes back to the home page, and from there to the areas.
  await page.getByRole('link', { name: /^Open.*To-dos/ }).click()
  await page.waitForURL('**/todos')
  await page.goBack()
  await page.getByRole('list', { name: 'Your house' }).waitFor()
  expect(await areas(page).count()).toBe(0)
  await page.goBack()
  await areas(page).waitFor()
  await section(page).waitFor()

  await hide()
  const heading = await page.getByRole('heading', { level: 1 }).boundingBox()
  await page.mouse.move((heading?.x ?? 0) + 5, (heading?.y ?? 0) + 5)
  await page.mouse.down()
  await areas(page).waitFor()
  await page.mouse.up()
})
