import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright'
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest'
import { BY_ENVIRONMENT, dataRoot, PASSWORD, type ServerProcess, startServer } from '../support/process.ts'
import { expectAccessible, openChromium, openContext, picture } from './browser.ts'

vi.setConfig({ testTimeout: 120_000 })

const data = dataRoot()
let server: ServerProcess
let browser: Browser
const faults: string[] = []

beforeAll(async () => {
  expect(existsSync(join(import.meta.dirname, '..', '..', 'dist', 'renderer', 'index.html')), 'the window is built').toBe(true)
  server = await startServer(data.path, { env: BY_ENVIRONMENT })
  browser = await openChromium()
})
afterAll(async () => {
  await browser?.close()
  await server?.stop()
  data[Symbol.dispose]()
})
afterEach(async () => {
  for (const context of browser.contexts()) await context.close()
  expect(faults.splice(0)).toEqual([])
})

/** The memory page of the owner, once each of these was remembered in turn. */
async function openMemory(...texts: string[]): Promise<Page> {
  const { page, context } = await openContext(browser, 'phone')
  page.on('pageerror', (error) => faults.push(error.message))
  const headers = { origin: server.url }
  await context.request.post(`${server.url}/api/auth/local`, { data: { password: PASSWORD }, headers })
  for (const content of texts) {
    const answer = await context.request.post(`${server.url}/api/actions/remember/execute`, { data: { content }, headers })
    expect(answer.status()).toBe(200)
  }
  await page.goto(`${server.url}/memory`)
  await list(page)
    .getByText(texts.at(-1) ?? '')
    .first()
    .waitFor()
  return page
}

const list = (page: Page) => page.getByRole('list', { name: 'What is remembered' })
const dialog = (page: Page) => page.getByRole('dialog')

async function forget(page: Page, title: string): Promise<void> {
  await page.getByRole('button', { name: `What to do with “${title}”` }).click()
  await page.getByRole('menuitem', { name: 'Forget' }).click()
}

test('who forgets a memory that was another before is asked what becomes of that', async () => {
  const page = await openMemory('The gate code is 1111', 'The gate code is 2222')
  await forget(page, 'The gate code is 2222')
  await dialog(page).getByText('The gate code is 1111').waitFor()
  await expectAccessible(page)
  await picture(page, 'phone-memory-forget')
  await dialog(page).getByRole('button', { name: 'Bring the earlier one back' }).click()
  await list(page).getByText('The gate code is 1111').first().waitFor()
  expect(await list(page).getByText('2222').count()).toBe(0)
})

test('all of it is forgotten where that is wanted', async () => {
  const page = await openMemory('The shed code is 1111', 'The shed code is 2222')
  await forget(page, 'The shed code is 2222')
  await dialog(page).getByRole('button', { name: 'Forget all of it' }).click()
  await list(page).getByText('shed').first().waitFor({ state: 'detached' })
  await page.goto(`${server.url}/memory?history`)
  await list(page).waitFor()
  expect(await list(page).getByText('shed').count()).toBe(0)
})

test('what a memory was before is shown with it, and can be forgotten alone', async () => {
  const page = await openMemory('The loft code is 1111', 'The loft code is 2222', 'The loft code is 3333')
  await page.getByRole('button', { name: 'What to do with “The loft code is 3333”' }).click()
  await page.getByRole('menuitem', { name: 'Change' }).click()
  const before = dialog(page).getByRole('list', { name: 'What it was before' })
  await before.getByText('The loft code is 1111').waitFor()
  await expectAccessible(page)
  await picture(page, 'phone-memory-before')
  await before.getByRole('button', { name: 'Forget “The loft code is 2222”' }).click()
  await before.getByText('The loft code is 2222').first().waitFor({ state: 'detached' })
  expect(await before.getByText('The loft code is 1111').count()).toBe(1)
})
