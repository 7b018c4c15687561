import { mkdirSync } from 'node:fs'
import type { Browser, Page } from 'playwright'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { dataRoot, startServer } from '../support/process.ts'
import { writeScriptedGguf } from '../support/scripted-gguf.ts'
import { expectAccessible, openChromium, openContext, picture } from './browser.ts'
import { ask, heard, setUp } from './steps.ts'

let browser: Browser
beforeAll(async () => {
  browser = await openChromium()
})
afterAll(() => browser.close())

async function addPerson(page: Page, name: string, role: string): Promise<void> {
  await page.getByRole('button', { name: 'Add a person' }).first().click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Name', { exact: true }).fill(name)
  await dialog.getByLabel('Role').selectOption({ label: role })
  await dialog.getByRole('button', { name: 'Add' }).click()
  await dialog.waitFor({ state: 'detached' })
  await page.getByText(name).first().waitFor()
}

/** What the family does and asks in the chat; each answer comes from what they said before. */
async function liveAnHour(page: Page, base: string, shots: string): Promise<void> {
  await page.goto(`${base}/household`)
  await addPerson(page, 'Ben', 'Adult')
  await addPerson(page, 'Cleo', 'Child')
  await picture(page, `${shots}-household`)
  await expectAccessible(page)

  await page.goto(`${base}/chat`)
  await ask(page, 'Remember that the boiler code is 4711', 'boiler code')
  await ask(page, 'Remind me to call mum tomorrow at 5pm', /call mum/i)
  await ask(page, 'Add milk and eggs to the shopping list', /milk/i)
  await ask(page, 'Set a pizza timer for 10 minutes', /pizza/i)
  await ask(page, 'Put choir into the calendar on Thursday at 7:30pm', /choir/i)
  await ask(page, 'What is the boiler code?', /4711/)
  await page.getByText('From 1 memory').last().waitFor()
  await picture(page, `${shots}-chat`)
  await expectAccessible(page)
  await ask(page, 'Why do you know this?', /told/i)
  await ask(page, 'What is on the shopping list?', /milk.*eggs|eggs.*milk/i)
  await ask(page, 'How much time is left on the pizza timer?', /minutes/)

  await page.goto(`${base}/todos?list=shopping`)
  await page.getByText('Milk').first().waitFor()
  await page.getByText('Eggs').first().waitFor()
  await picture(page, `${shots}-shopping`)
  await expectAccessible(page)
  await page.goto(`${base}/todos`)
  await page
    .getByText(/call mum/i)
    .first()
    .waitFor()
  await page.goto(`${base}/timers`)
  await page.getByText(/pizza/i).first().waitFor()
  await picture(page, `${shots}-timers`)
  await expectAccessible(page)
  await page.goto(`${base}/calendar`)
  await page.getByText(/choir/i).first().waitFor()
  await picture(page, `${shots}-calendar`)
  await expectAccessible(page)
  await page.goto(`${base}/memory?q=${encodeURIComponent('number for the heating')}`)
  await page.getByText('boiler code').first().waitFor()
  await picture(page, `${shots}-memory`)
  await expectAccessible(page)
  await page.goto(`${base}/actions?show=runs`)
  await page.getByText('Add to-do').first().waitFor()
  await picture(page, `${shots}-runs`)
  await expectAccessible(page)
}

test('a family’s first hour without any model', { timeout: 180_000 }, async () => {
  using data = dataRoot()
  const server = await startServer(data.path)
  const base = `http://localhost:${server.port}`
  try {
    const { page, faults } = await openContext(browser, 'desktop')
    await setUp(page, server, 'hour')
    await liveAnHour(page, base, 'hour')
    await page.goto(`${base}/chat`)
    await ask(page, 'Write me a poem about the sea', /no language model|cannot/i)
    await ask(page, 'Forget about the boiler code', /forg[eo]t/i)
    await ask(page, 'What is the boiler code?', /do not know|don’t know|nothing/i)
    expect(faults).toEqual([])
  } finally {
    await server.stop()
    for (const context of browser.contexts()) await context.close()
  }
})

test('the same with a model that calls a tool', { timeout: 240_000 }, async () => {
  using data = dataRoot()
  mkdirSync(data.file('models'), { recursive: true })
  writeScriptedGguf(data.file('models', 'scripted.gguf'), { tool: 'list_timers' })
  const server = await startServer(data.path)
  const base = `http://localhost:${server.port}`
  try {
    const { page, faults } = await openContext(browser, 'desktop')
    await setUp(page, server, 'hour-model')
    await liveAnHour(page, base, 'hour-model')
    await page.goto(`${base}/chat`)
    await ask(page, 'Use the tool for my timers and nothing else', 'That came straight out of a function.')
    await heard(page, 'Done: List timers')
    await picture(page, 'hour-model-tool')
    await expectAccessible(page)
    expect(faults).toEqual([])
  } finally {
    await server.stop()
    for (const context of browser.contexts()) await context.close()
  }
})
