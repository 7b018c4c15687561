import { expect, test, vi } from 'vitest'
import { expectAccessible } from './browser.ts'
import { setStage } from './stage.ts'

vi.setConfig({ testTimeout: 120_000 })

const stage = setStage()

test('what is typed into the form of an action is sent, numbers and spans of time too', async () => {
  const { page } = await stage.openAsOwner()
  await page.goto(`${stage.server.url}/actions`)
  await page.getByRole('button', { name: 'Try it: Set timer' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Duration').fill('90')
  await dialog.getByLabel('Name').fill('Bread')
  await expectAccessible(page)
  await dialog.getByRole('button', { name: 'Do it' }).click()
  await expect
    .poll(async () => (await stage.owner.api.timers.list({})).map(({ name, durationMs }) => ({ name, durationMs })))
    .toEqual([{ name: 'Bread', durationMs: 5_400_000 }])
})

test('what is wrong with a field is said beside it, and nowhere else', async () => {
  const { page } = await stage.openAsOwner()
  await page.goto(`${stage.server.url}/actions`)
  await page.getByRole('button', { name: 'Try it: Add to-do' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('button', { name: 'Do it' }).click()
  await expect.poll(() => dialog.getByLabel('Title').getAttribute('aria-invalid')).toBe('true')
  expect(await dialog.getByText('body.').count()).toBe(0)
})
