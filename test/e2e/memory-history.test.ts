import type { Page } from 'playwright'
import { expect, test, vi } from 'vitest'
import { expectAccessible, picture } from './browser.ts'
import { setStage } from './stage.ts'

vi.setConfig({ testTimeout: 120_000 })

const stage = setStage()

/** The memory page of the owner, once each of these was remembered in turn. */
async function openMemory(...texts: string[]): Promise<Page> {
  const { page, context } = await stage.openAsOwner('phone')
  const headers = { origin: stage.server.url }
  for (const content of texts) {
    const answer = await context.request.post(`${stage.server.url}/api/actions/remember/execute`, { data: { content }, headers })
    expect(answer.status()).toBe(200)
  }
  await page.goto(`${stage.server.url}/memory`)
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
  await page.goto(`${stage.server.url}/memory?history`)
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
