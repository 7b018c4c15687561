import { afterAll, beforeAll, test } from 'vitest'
import { failing, openHouses, title, type Visit, walks } from './page-walk.ts'

/** The pages of the house itself at every size, light and dark, as they are used, empty and failing. */

let houses: Awaited<ReturnType<typeof openHouses>>
beforeAll(async () => {
  houses = await openHouses()
})
afterAll(() => houses?.close())

const somebody = Buffer.from(
  JSON.stringify({ v: 2, code: 'ABCDEFGH', secret: 's', servers: ['http://127.0.0.1'], name: 'The Lovelaces' }),
).toString('base64url')

/** As the server says it once its own authority is there. */
const trusted = {
  enabled: true,
  fixed: false,
  fault: null,
  fingerprint: Array.from({ length: 32 }, () => '5E').join(':'),
  names: ['localhost', 'hearth.local', '127.0.0.1', '192.168.178.21'],
  uncovered: [],
  expiresAt: '2036-11-01T00:00:00.000Z',
}

const visits: Visit[] = [
  { name: 'setup', path: '/setup', isFresh: true, ready: title('Is this your Hearth?') },
  { name: 'login', path: '/login', ready: title('Welcome home') },
  { name: 'pair-link', path: `/pair#d=${somebody}`, ready: title(/Come in to/) },
  { name: 'docs', path: '/docs', ready: (page) => page.getByText('/api/status').first().waitFor() },
  { name: 'devices', path: '/paired-devices', signedIn: true, ready: (page) => page.getByText('The kitchen tablet').waitFor() },
  {
    name: 'devices-empty',
    path: '/paired-devices',
    signedIn: true,
    before: (page) => page.route('**/api/paired-devices', (route) => route.fulfill({ json: [] })),
    ready: (page) => page.getByText('No device yet').waitFor(),
  },
  {
    name: 'devices-failing',
    path: '/paired-devices',
    signedIn: true,
    before: failing('**/api/paired-devices'),
    ready: (page) => page.getByText('r-1').waitFor(),
  },
  { name: 'settings', path: '/settings', signedIn: true, ready: (page) => page.getByText('Shell on the workbench').waitFor() },
  {
    name: 'settings-failing',
    path: '/settings',
    signedIn: true,
    before: failing('**/api/settings'),
    ready: (page) => page.getByText('r-1').first().waitFor(),
  },
  { name: 'memory', path: '/memory', signedIn: true, ready: (page) => page.getByText('blue jar').first().waitFor() },
  { name: 'memory-facts', path: '/memory?show=facts', signedIn: true, ready: (page) => page.getByText('Wi-Fi for guests').waitFor() },
  { name: 'memory-self', path: '/memory?show=self', signedIn: true, ready: (page) => page.getByLabel('Personality text').waitFor() },
  {
    name: 'memory-empty',
    path: '/memory',
    signedIn: true,
    before: (page) => page.route('**/api/memory/chunks?**', (route) => route.fulfill({ json: { chunks: [] } })),
    ready: (page) => page.getByText('Nothing is remembered yet').waitFor(),
  },
  {
    name: 'memory-failing',
    path: '/memory',
    signedIn: true,
    before: failing('**/api/memory/chunks?**'),
    ready: (page) => page.getByText('r-1').first().waitFor(),
  },
  { name: 'actions', path: '/actions', signedIn: true, ready: (page) => page.getByText('add_todo').first().waitFor() },
  { name: 'actions-runs', path: '/actions?show=runs', signedIn: true, ready: (page) => page.getByText('Add to-do').first().waitFor() },
  {
    name: 'actions-servers',
    path: '/actions?show=servers',
    signedIn: true,
    ready: (page) => page.getByText('No tool server yet').waitFor(),
  },
  {
    name: 'actions-failing',
    path: '/actions',
    signedIn: true,
    before: failing('**/api/actions'),
    ready: (page) => page.getByText('r-1').first().waitFor(),
  },
  { name: 'models', path: '/models', signedIn: true, ready: (page) => page.getByText('scripted').first().waitFor() },
  {
    name: 'models-failing',
    path: '/models',
    signedIn: true,
    before: failing('**/api/models/overview'),
    ready: (page) => page.getByText('r-1').first().waitFor(),
  },
  { name: 'household', path: '/household', signedIn: true, ready: (page) => page.getByText('Byron').waitFor() },
  {
    name: 'household-add',
    path: '/household',
    signedIn: true,
    async ready(page) {
      await page.getByRole('button', { name: 'Add a person' }).click()
      await page.getByRole('dialog').getByLabel('Name').waitFor()
    },
  },
  {
    name: 'household-failing',
    path: '/household',
    signedIn: true,
    before: failing('**/api/household'),
    ready: (page) => page.getByText('r-1').first().waitFor(),
  },
  { name: 'nowhere', path: '/nowhere', signedIn: true, ready: (page) => page.getByRole('main').waitFor() },
  { name: 'trust-off', path: '/trust', signedIn: true, ready: (page) => page.getByText('The secure connection is switched off').waitFor() },
  {
    name: 'trust',
    path: '/trust',
    signedIn: true,
    before: (page) => page.route('**/api/trust', (route) => route.fulfill({ json: trusted })),
    ready: (page) => page.getByRole('link', { name: 'Download the certificate' }).waitFor(),
  },
  {
    name: 'trust-failing',
    path: '/trust',
    signedIn: true,
    before: failing('**/api/trust'),
    ready: (page) => page.getByText('r-1').waitFor(),
  },
]

test.each(walks)('the pages on $on', { timeout: 600_000 }, ({ sizes }) => houses.walk(sizes, visits))
