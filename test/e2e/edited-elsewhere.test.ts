import type { Locator, Page } from 'playwright'
import { expect, it, vi } from 'vitest'
import { readLink } from '../support/credentials.ts'
import { setStage } from './stage.ts'

vi.setConfig({ testTimeout: 120_000 })

const stage = setStage()
const api = () => stage.owner.api
/** Waits as long as a busy machine may need. */
const soon = <T>(read: () => T) => expect.poll(read, { timeout: 20_000 })
/** A label may have a word after it that says that the field is optional. */
const field = (place: Locator, label: string) => place.getByLabel(new RegExp(`^${label}( |$)`)).first()

interface Subject {
  path: string
  /** Puts it there and returns its id. */
  make: () => Promise<string>
  open: (page: Page) => Promise<void>
  /** What is typed here, and the words that others put into another field, which the dialog shows under `theirs`. */
  typed: [label: string, words: string]
  theirs: [label: string, words: string]
  /** Others change the field of `theirs`, or that of `typed`. */
  change: (id: string, what: 'theirs' | 'typed', words: string) => Promise<unknown>
  /** What both fields say on the server; null for what is not there. */
  read: (words: string) => Promise<[typed: string, theirs: string] | null>
  remove: (id: string) => Promise<unknown>
}

const change = async (page: Page, name: string) => {
  await page.getByRole('button', { name: new RegExp(`^What to do with “?${name}”?$`) }).click()
  await page.getByRole('menuitem', { name: 'Change' }).click()
}

async function putPerson(id: string, edit: object) {
  const { household, persons } = await api().household.get()
  const { id: _, ...settings } = household
  await api().household.replace({
    body: { ...settings, mode: 'multi', persons: persons.map((person) => (person.id === id ? { ...person, ...edit } : person)) },
  })
}

const subjects: Record<string, Subject> = {
  'a to-do': {
    path: '/todos',
    make: async () => (await api().todos.create({ body: { title: 'Call the plumber' } })).id,
    open: (page) => change(page, 'Call the plumber'),
    typed: ['What', 'Call the roofer'],
    theirs: ['Notes', 'before noon'],
    change: (id, what, words) => api().todos.update({ params: { id }, body: what === 'typed' ? { title: words } : { notes: words } }),
    read: async (words) => {
      const found = (await api().todos.list({ query: { status: 'open' } })).find(({ title }) => title === words)
      return found ? [found.title, found.notes ?? ''] : null
    },
    remove: (id) => api().todos.remove({ params: { id } }),
  },
  'an event': {
    path: '/calendar',
    make: async () => (await api().calendar.create({ body: { title: 'Choir', startAt: new Date(Date.now() + 60_000).toISOString() } })).id,
    open: async (page) => {
      await page.getByRole('main').getByText('Choir').first().click()
      await page.getByRole('dialog').getByRole('button', { name: 'Change' }).click()
    },
    typed: ['Where', 'Town hall'],
    theirs: ['Notes', 'bring water'],
    change: (id, what, words) => api().calendar.update({ params: { id }, body: what === 'typed' ? { location: words } : { notes: words } }),
    read: async (words) => {
      const found = (await api().calendar.list({ query: {} })).find(({ location }) => location === words)
      return found ? [found.location ?? '', found.notes ?? ''] : null
    },
    remove: (id) => api().calendar.remove({ params: { id }, query: {} }),
  },
  'a memory': {
    path: '/memory',
    make: async () =>
      (await api().memory.addChunk({ body: { source: 'note', title: 'The ladder', content: 'It leans behind the shed.' } })).chunk.id,
    open: (page) => change(page, 'The ladder'),
    typed: ['What to remember', 'It hangs in the cellar.'],
    theirs: ['Kind', 'tools'],
    change: (id, what, words) =>
      api().memory.updateChunk({ params: { id }, body: what === 'typed' ? { content: words } : { category: words } }),
    read: async (words) => {
      const found = (await api().memory.chunks({ query: {} })).chunks.find(({ content }) => content === words)
      return found ? [found.content, found.category] : null
    },
    remove: (id) => api().memory.removeChunk({ params: { id }, query: {} }),
  },
  'a person': {
    path: '/household',
    make: async () => {
      const { household, persons } = await api().household.get()
      const { id: _, ...settings } = household
      const added = await api().household.replace({ body: { ...settings, mode: 'multi', persons: [...persons, { displayName: 'Cleo' }] } })
      return added.persons.find(({ displayName }) => displayName === 'Cleo')?.id ?? ''
    },
    open: (page) => change(page, 'Cleo'),
    typed: ['Also called', 'Clee'],
    theirs: ['Pronouns', 'she/her'],
    change: (id, what, words) => putPerson(id, what === 'typed' ? { aliases: [words] } : { pronouns: words }),
    read: async (words) => {
      const found = (await api().household.get()).persons.find(({ aliases }) => aliases.includes(words))
      return found ? [found.aliases.join(), found.pronouns] : null
    },
    remove: async (id) => {
      const { household, persons } = await api().household.get()
      const { id: _, ...settings } = household
      await api().household.replace({ body: { ...settings, persons: persons.filter((person) => person.id !== id) } })
    },
  },
  'a tool server': {
    path: '/actions?show=servers',
    make: async () => (await api().mcp.add({ body: { name: 'attic', url: 'http://127.0.0.1:9/mcp', enabled: false } })).id,
    open: (page) => change(page, 'attic'),
    typed: ['Short name', 'loft'],
    theirs: ['Address', 'http://127.0.0.1:9/other'],
    change: (id, what, words) => api().mcp.update({ params: { id }, body: what === 'typed' ? { name: words } : { url: words } }),
    read: async (words) => {
      const found = (await api().mcp.list()).find(({ name }) => name === words)
      return found ? [found.name, found.url] : null
    },
    remove: (id) => api().mcp.remove({ params: { id } }),
  },
}

interface Written {
  page: Page
  dialog: Locator
  id: string
}

/** Its dialog in a window, with something typed. */
async function write(subject: Subject): Promise<Written> {
  const id = await subject.make()
  const { page } = await stage.openAsOwner('desktop')
  await page.goto(stage.server.url + subject.path)
  await page.getByRole('heading', { level: 1 }).waitFor()
  await subject.open(page)
  const dialog = page.getByRole('dialog')
  const [label, words] = subject.typed
  await field(dialog, label).fill(words)
  return { page, dialog, id }
}

const saves = async ({ dialog }: Written, name: string) => {
  await dialog.getByRole('button', { name, exact: true }).click()
  await dialog.waitFor({ state: 'detached' })
}

it.each(Object.entries(subjects))('shows what others change of %s meanwhile, and keeps it', async (_name, subject) => {
  const written = await write(subject)
  const [label, words] = subject.theirs
  await subject.change(written.id, 'theirs', words)
  await soon(() => field(written.dialog, label).inputValue()).toBe(words)
  expect(await field(written.dialog, subject.typed[0]).inputValue()).toBe(subject.typed[1])
  await saves(written, 'Save')
  expect(await subject.read(subject.typed[1])).toEqual([subject.typed[1], words])
  await subject.remove(written.id)
})

it.each(Object.entries(subjects))('asks whose words count where others change the same of %s', async (_name, subject) => {
  const written = await write(subject)
  const { dialog, id } = written
  const [label, mine] = subject.typed
  const own = field(dialog, label)
  await subject.change(id, 'typed', 'theirs')
  await dialog.getByText(/Somebody changed .* to “theirs” meanwhile\./).waitFor()
  expect(await own.inputValue()).toBe(mine)
  await dialog.getByRole('button', { name: 'Save', exact: true }).click()
  await dialog.getByRole('button', { name: 'Keep yours' }).click()
  await saves(written, 'Save')
  expect((await subject.read(mine))?.[0]).toBe(mine)
  expect(await subject.read('theirs')).toBeNull()
  await subject.remove(id)
})

it.each(Object.entries(subjects))('keeps what was typed for %s as a new one when others delete it', async (_name, subject) => {
  const written = await write(subject)
  await subject.remove(written.id)
  await written.dialog.getByText('This was deleted elsewhere meanwhile.').waitFor()
  const [label, words] = subject.typed
  expect(await field(written.dialog, label).inputValue()).toBe(words)
  await saves(written, 'Keep as a new one')
  expect((await subject.read(words))?.[0]).toBe(words)
})

it('takes theirs where that is chosen', async () => {
  const subject = subjects['a to-do'] as Subject
  const written = await write(subject)
  await subject.change(written.id, 'typed', 'Call the tiler')
  await written.dialog.getByRole('button', { name: 'Take theirs' }).click()
  expect(await field(written.dialog, 'What').inputValue()).toBe('Call the tiler')
  await written.dialog.getByRole('button', { name: 'Take theirs' }).waitFor({ state: 'detached' })
  await saves(written, 'Save')
  expect((await subject.read('Call the tiler'))?.[0]).toBe('Call the tiler')
})

it('asks at saving where nobody told it before, and says when it is gone by then', async () => {
  const subject = subjects['a to-do'] as Subject
  const { page, dialog, id } = await write(subject)
  await page.routeWebSocket('**/ws', (socket) => socket.close())
  await page.reload()
  await subject.open(page)
  await field(dialog, 'What').fill('Call the glazier')
  await subject.change(id, 'typed', 'Call the mason')
  await dialog.getByRole('button', { name: 'Save', exact: true }).click()
  await dialog.getByRole('button', { name: 'Keep yours' }).click()
  await subject.remove(id)
  await dialog.getByRole('button', { name: 'Save', exact: true }).click()
  await dialog.getByRole('button', { name: 'Keep as a new one' }).waitFor()
  expect(await field(dialog, 'What').inputValue()).toBe('Call the glazier')
})

it('sends nothing of what nobody touched', async () => {
  await api().todos.create({ body: { title: 'Air the beds', notes: 'all four' } })
  const { page } = await stage.openAsOwner('desktop')
  await page.goto(`${stage.server.url}/todos`)
  await change(page, 'Air the beds')
  const dialog = page.getByRole('dialog')
  await field(dialog, 'What').fill('Air the quilts')
  const sent: string[] = []
  page.on('request', (request) => void (request.method() === 'PATCH' && sent.push(request.postData() ?? '')))
  await saves({ page, dialog, id: '' }, 'Save')
  expect(sent).toEqual(['{"title":"Air the quilts"}'])
  await change(page, 'Air the quilts')
  await saves({ page, dialog, id: '' }, 'Save')
  expect(sent).toHaveLength(1)
})

it('changes of the home only what was changed there', async () => {
  const { page } = await stage.openAsOwner('desktop')
  await page.goto(`${stage.server.url}/household`)
  await page.getByRole('button', { name: 'Change the home' }).click()
  const dialog = page.getByRole('dialog')
  await field(dialog, 'Name').fill('Mill')
  const { household, persons } = await api().household.get()
  const { id: _, ...settings } = household
  await api().household.replace({ body: { ...settings, timezone: 'Pacific/Auckland', persons } })
  await soon(() => field(dialog, 'Time zone').inputValue()).toBe('Pacific/Auckland')
  await saves({ page, dialog, id: '' }, 'Save')
  const { displayName, timezone } = (await api().household.get()).household
  expect([displayName, timezone]).toEqual(['Mill', 'Pacific/Auckland'])
})

it('says of an event that is looked at that it was deleted', async () => {
  const { id } = await api().calendar.create({ body: { title: 'Regatta', startAt: new Date(Date.now() + 60_000).toISOString() } })
  const { page } = await stage.openAsOwner('desktop')
  await page.goto(`${stage.server.url}/calendar`)
  await page.getByRole('main').getByText('Regatta').first().click()
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('button', { name: 'Change' }).waitFor()
  await api().calendar.remove({ params: { id }, query: {} })
  await dialog.getByText('This was removed elsewhere meanwhile').waitFor()
  expect(await dialog.getByRole('button', { name: 'Change' }).count()).toBe(0)
})

/** A device as the owner lets one in. */
async function pair(name: string): Promise<string> {
  const { qr } = await api().pairing.start({ body: { scope: 'member' } })
  const { code, secret } = readLink(qr)
  const body = JSON.stringify({ code, secret, deviceInfo: { name, type: 'tablet' } })
  const { url } = stage.server
  const headers = { 'content-type': 'application/json', origin: url }
  expect((await fetch(`${url}/api/auth/pair/browser`, { method: 'POST', headers, body })).ok).toBe(true)
  return (await api().pairedDevices.list()).find((device) => device.name === name)?.id ?? ''
}

it('changes of a device only what was changed there, and says when it was revoked', async () => {
  const id = await pair('Kitchen')
  const { page } = await stage.openAsOwner('desktop')
  await page.goto(`${stage.server.url}/paired-devices`)
  await change(page, 'Kitchen')
  const dialog = page.getByRole('dialog')
  await field(dialog, 'Name').fill('Pantry')
  await api().pairedDevices.update({ params: { id }, body: { quietHours: { from: '21:15', to: '06:30' } } })
  await soon(() => dialog.getByRole('switch', { name: /Quiet/ }).isChecked()).toBe(true)
  await saves({ page, dialog, id }, 'Save')
  const [saved] = (await api().pairedDevices.list()).filter((device) => device.id === id)
  expect([saved?.name, saved?.quietHours]).toEqual(['Pantry', { from: '21:15', to: '06:30' }])
  await change(page, 'Pantry')
  await field(dialog, 'Name').fill('Porch')
  await api().pairedDevices.revoke({ params: { id } })
  await dialog.getByText('This was removed elsewhere meanwhile').waitFor()
  expect(await dialog.getByRole('button', { name: 'Save' }).count()).toBe(0)
})

it('sends of the settings only what was changed, and asks where others changed the same', async () => {
  const { page } = await stage.openAsOwner('desktop')
  await page.goto(`${stage.server.url}/settings`)
  const main = page.getByRole('main')
  const hosts = field(main, 'Further host names')
  const card = main.locator('form').filter({ has: page.getByLabel('Further host names') })
  await hosts.fill('mill.example')
  await api().settings.update({ body: { SERVICE_PUBLIC_URL: 'https://hearth.example.com' } })
  await card.getByRole('button', { name: 'Save' }).click()
  await soon(async () => (await api().settings.get()).SERVICE_ALLOWED_HOSTS).toBe('mill.example')
  expect((await api().settings.get()).SERVICE_PUBLIC_URL).toBe('https://hearth.example.com')
  await soon(() => card.getByRole('button', { name: 'Save' }).isDisabled()).toBe(true)
  await hosts.fill('mine.example')
  await api().settings.update({ body: { SERVICE_ALLOWED_HOSTS: 'theirs.example' } })
  await card.getByRole('button', { name: 'Save' }).click()
  await card.getByRole('button', { name: 'Take theirs' }).click()
  expect(await hosts.inputValue()).toBe('theirs.example')
})

it('asks whose value of a fact counts, and keeps a deleted one as a new one', async () => {
  const fact = { category: 'house', key: 'meter number', value: '1' }
  const { id } = await api().memory.set({ body: fact })
  const { page } = await stage.openAsOwner('desktop')
  await page.goto(`${stage.server.url}/memory?show=facts`)
  await change(page, 'meter number')
  const dialog = page.getByRole('dialog')
  await field(dialog, 'Value').fill('2')
  await api().memory.set({ body: { ...fact, value: '3' } })
  await dialog.getByText('Somebody changed “Value” to “3” meanwhile.').waitFor()
  await dialog.getByRole('button', { name: 'Keep yours' }).click()
  await api().memory.remove({ params: { id } })
  await dialog.getByText('This was deleted elsewhere meanwhile.').waitFor()
  await saves({ page, dialog, id }, 'Keep as a new one')
  const { entries } = await api().memory.list({ query: {} })
  expect(entries.map(({ category, key, value }) => ({ category, key, value }))).toEqual([{ ...fact, value: '2' }])
})

it('does not put the personality in the place of one that was written elsewhere', async () => {
  const { page } = await stage.openAsOwner('desktop')
  await page.goto(`${stage.server.url}/memory?show=self`)
  const main = page.getByRole('main')
  const text = field(main, 'Personality text')
  await text.fill('Speak like a pirate.')
  await main.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Hearth will speak like this from now on.').waitFor()
  await text.fill('Speak like a poet.')
  await api().memory.setSoul({ body: { content: 'Speak like a judge.' } })
  await main.getByRole('button', { name: 'Save' }).click()
  await main.getByText('Somebody changed “Personality text” to “Speak like a judge').waitFor()
  expect((await api().memory.raw()).soul).toContain('judge')
  await main.getByRole('button', { name: 'Keep yours' }).click()
  await main.getByRole('button', { name: 'Save' }).click()
  await soon(async () => (await api().memory.raw()).soul).toContain('poet')
})
