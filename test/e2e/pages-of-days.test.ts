import { afterAll, beforeAll, test } from 'vitest'
import { failing, openHouses, type Visit, walks } from './page-walk.ts'

/** The pages of daily life at every size, light and dark, as they are used, empty and failing. */

let houses: Awaited<ReturnType<typeof openHouses>>
beforeAll(async () => {
  houses = await openHouses()
})
afterAll(() => houses?.close())

const visits: Visit[] = [
  { name: 'home', path: '/', signedIn: true, ready: (page) => page.getByText('Choir').first().waitFor() },
  {
    name: 'home-empty',
    path: '/',
    signedIn: true,
    async before(page) {
      for (const api of ['**/api/todos?**', '**/api/calendar?**', '**/api/timers', '**/api/notifications?**'])
        await page.route(api, (route) => route.fulfill({ json: [] }))
    },
    ready: (page) => page.getByText('Nothing on today or tomorrow.').waitFor(),
  },
  {
    name: 'home-failing',
    path: '/',
    signedIn: true,
    before: failing('**/api/{todos?**,calendar?**,timers,notifications?**,status}'),
    ready: (page) => page.getByText('r-1').nth(4).waitFor(),
  },
  {
    name: 'chat-empty',
    path: '/chat',
    signedIn: true,
    ready: (page) => page.getByRole('textbox', { name: 'Message to Hearth' }).waitFor(),
  },
  {
    name: 'chat-failing',
    path: '/chat',
    signedIn: true,
    before: failing('**/api/chat/conversations?**'),
    ready: (page) => page.getByRole('textbox', { name: 'Message to Hearth' }).waitFor(),
  },
  { name: 'calendar', path: '/calendar', signedIn: true, ready: (page) => page.getByRole('button', { name: /Choir/ }).first().waitFor() },
  {
    name: 'calendar-month',
    path: '/calendar?view=month',
    signedIn: true,
    ready: (page) => page.getByRole('button', { name: /Choir/ }).first().waitFor(),
  },
  {
    name: 'calendar-event',
    path: '/calendar',
    signedIn: true,
    async ready(page) {
      await page.getByRole('button', { name: 'Add an event' }).click()
      await page.getByRole('dialog').getByLabel('What').waitFor()
    },
  },
  {
    name: 'calendar-outside',
    path: '/calendar?view=outside',
    signedIn: true,
    ready: (page) => page.getByText('None yet.').waitFor(),
  },
  {
    name: 'calendar-empty',
    path: '/calendar',
    signedIn: true,
    before: (page) => page.route('**/api/calendar?**', (route) => route.fulfill({ json: [] })),
    ready: (page) => page.getByText('Nothing on in this time').waitFor(),
  },
  {
    name: 'calendar-failing',
    path: '/calendar',
    signedIn: true,
    before: failing('**/api/calendar?**'),
    ready: (page) => page.getByText('r-1').waitFor(),
  },
  { name: 'todos', path: '/todos', signedIn: true, ready: (page) => page.getByText('Ring the chimney sweep').waitFor() },
  { name: 'todos-shopping', path: '/todos?list=shopping', signedIn: true, ready: (page) => page.getByText('Rye bread').waitFor() },
  {
    name: 'todos-change',
    path: '/todos',
    signedIn: true,
    async ready(page) {
      await page.getByRole('button', { name: 'What to do with Descale the kettle' }).click()
      await page.getByRole('menuitem', { name: 'Change' }).click()
      await page.getByRole('dialog').getByLabel('What').waitFor()
    },
  },
  {
    name: 'todos-empty',
    path: '/todos?list=packing',
    signedIn: true,
    ready: (page) => page.getByText('Nothing stands on this list').waitFor(),
  },
  {
    name: 'todos-failing',
    path: '/todos',
    signedIn: true,
    before: failing('**/api/todos?**'),
    ready: (page) => page.getByText('r-1').waitFor(),
  },
  { name: 'timers', path: '/timers', signedIn: true, ready: (page) => page.getByText('The cake with').first().waitFor() },
  {
    name: 'timers-empty',
    path: '/timers',
    signedIn: true,
    before: (page) => page.route('**/api/timers', (route) => route.fulfill({ json: [] })),
    ready: (page) => page.getByText('Nothing is running').waitFor(),
  },
  {
    name: 'timers-failing',
    path: '/timers',
    signedIn: true,
    before: failing('**/api/timers'),
    ready: (page) => page.getByText('r-1').waitFor(),
  },
  {
    name: 'notifications',
    path: '/notifications',
    signedIn: true,
    ready: (page) => page.getByText('The back door is open').first().waitFor(),
  },
  {
    name: 'notifications-empty',
    path: '/notifications',
    signedIn: true,
    before: (page) => page.route('**/api/notifications?**', (route) => route.fulfill({ json: [] })),
    ready: (page) => page.getByText('Nothing so far').waitFor(),
  },
  {
    name: 'notifications-failing',
    path: '/notifications',
    signedIn: true,
    before: failing('**/api/notifications?**'),
    ready: (page) => page.getByText('r-1').waitFor(),
  },
]

test.each(walks)('the pages on $on', { timeout: 600_000 }, ({ sizes }) => houses.walk(sizes, visits))
