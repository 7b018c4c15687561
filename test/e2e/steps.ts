import type { Page } from 'playwright'
import type { ServerProcess } from '../support/process.ts'
import { expectAccessible, picture } from './browser.ts'

export const PASSWORD = 'correct horse battery'

/** Says something in the chat. */
export async function say(page: Page, text: string): Promise<void> {
  await page.getByRole('textbox', { name: 'Message to Hearth' }).fill(text)
  await page.keyboard.press('Enter')
}

/** Waits for words in the conversation itself, not in what is read out beside it. */
export const heard = (page: Page, words: string | RegExp) =>
  page.getByRole('list', { name: 'What was said' }).getByText(words).last().waitFor()

/** Says something and waits for these words in the answer to it. */
export async function ask(page: Page, text: string, answer: string | RegExp): Promise<void> {
  const answers = page.getByRole('list', { name: 'What was said' }).locator('> li.assistant')
  const before = await answers.count()
  await say(page, text)
  await answers.nth(before).getByText(answer).first().waitFor()
  await page.getByRole('button', { name: 'Stop the reply' }).waitFor({ state: 'detached' })
}

/** Goes through the wizard as its first owner would. */
export async function setUp(page: Page, server: ServerProcess, shots: string): Promise<void> {
  const pin = /Setup PIN: (\d{6})/.exec(server.stdout())?.[1] ?? ''
  await page.goto(`http://localhost:${server.port}/`)
  await page.getByLabel('PIN').fill(pin.slice(1))
  await page.getByRole('button', { name: 'Go on' }).click()
  await page.getByText('The PIN has six digits.').waitFor()
  await page.getByLabel('PIN').fill(pin)
  await picture(page, `${shots}-setup`)
  await expectAccessible(page)
  await page.getByRole('button', { name: 'Go on' }).click()
  await page.getByLabel('Your name').fill('Ada')
  await page.getByLabel('Password', { exact: true }).fill(PASSWORD)
  await expectAccessible(page)
  await page.getByRole('button', { name: 'Go on' }).click()
  await page.getByLabel('Name of the household').fill('The Lovelaces')
  await page.getByRole('button', { name: 'Finish' }).click()
  await page.getByRole('textbox', { name: 'Message to Hearth' }).waitFor()
}
