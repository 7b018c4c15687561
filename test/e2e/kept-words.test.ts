import type { Locator, Page } from 'playwright'
import { expect, it, vi } from 'vitest'
import { setStage } from './stage.ts'

vi.setConfig({ testTimeout: 120_000 })

const stage = setStage()

async function open(path: string): Promise<Page> {
  const { page } = await stage.openAsOwner('phone')
  await page.goto(stage.server.url + path)
  await page.getByRole('heading', { level: 1 }).waitFor()
  return page
}

interface Form {
  path: string
  /** What is clicked to get there. */
  opens: string | null
  /** Fields by label, with what is typed. */
  fields: Record<string, string>
  sends: string
  /** Seen once it was kept. */
  seen: string
}

const forms: Record<string, Form> = {
  'an event': { path: '/calendar', opens: 'Add an event', fields: { What: 'Sea trip', Where: 'Harbour' }, sends: 'Add', seen: 'Sea trip' },
  'a to-do': { path: '/todos?list=shopping', opens: null, fields: { 'Add to Shopping': 'oat milk' }, sends: 'Add', seen: 'oat milk' },
  'a person': { path: '/household', opens: 'Add a person', fields: { Name: 'Benedikta' }, sends: 'Add', seen: 'Benedikta' },
  'a fact': {
    path: '/memory?show=facts',
    opens: 'Add a fact',
    fields: { Name: 'boiler code', Value: '4711' },
    sends: 'Save',
    seen: 'boiler code',
  },
  'a memory': {
    path: '/memory',
    opens: 'Add a memory',
    fields: { 'What to remember': 'The key hangs in the shed.' },
    sends: 'Save',
    seen: 'The key hangs',
  },
  'an alarm': { path: '/timers', opens: 'Set an alarm', fields: { Name: 'Swimming' }, sends: 'Set it', seen: 'Swimming' },
  'the name of the home': {
    path: '/household',
    opens: 'Change the home',
    fields: { Name: 'Lighthouse' },
    sends: 'Save',
    seen: 'Lighthouse',
  },
  'a tool server': {
    path: '/actions?show=servers',
    opens: 'Add a tool server',
    fields: { 'Short name': 'shed', Address: 'http://192.168.1.20:8080/mcp' },
    sends: 'Save',
    seen: 'shed',
  },
}

/** A label may have a word after it that says that the field is optional. */
const field = (place: Page | Locator, label: string) => place.getByLabel(new RegExp(`^${label}( |$)`)).first()
const within = (page: Page, { opens }: Form): Page | Locator => (opens ? page.getByRole('dialog') : page.getByRole('main'))

it.each(Object.entries(forms))(
  'keeps what was typed for %s while the server is gone, says so, and sends it at the second try',
  async (_what, form) => {
    const page = await open(form.path)
    if (form.opens) await page.getByRole('button', { name: form.opens }).first().click()
    const place = within(page, form)
    for (const [label, words] of Object.entries(form.fields)) await field(place, label).fill(words)
    await stage.server.kill()
    const send = place.getByRole('button', { name: form.sends, exact: true }).last()
    if (form.opens) await send.click()
    else await page.keyboard.press('Enter')
    const alert = place.getByRole('alert').first()
    await alert.waitFor()
    expect(await alert.innerText()).toMatch(/\w{4}/)
    if (form.opens) await expect.poll(() => alert.evaluate((element) => element.getBoundingClientRect().top >= 0)).toBe(true)
    for (const [label, words] of Object.entries(form.fields)) expect(await field(place, label).inputValue(), label).toBe(words)
    if (form.opens) {
      await page.mouse.click(2, 2) // beside it
      for (const [label, words] of Object.entries(form.fields)) expect(await field(place, label).inputValue(), label).toBe(words)
    }
    await stage.startAgain()
    await send.click()
    await page.getByRole('main').getByText(form.seen).first().waitFor()
    if (form.opens) await page.getByRole('dialog').waitFor({ state: 'detached' })
  },
)
