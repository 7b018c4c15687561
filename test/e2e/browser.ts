import { mkdirSync, readFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright'
import { expect } from 'vitest'

const SHOTS = join(import.meta.dirname, 'screenshots')
const AXE = readFileSync(join(import.meta.dirname, '..', '..', 'node_modules', 'axe-core', 'axe.min.js'), 'utf8')

export const screens = {
  phone: { width: 360, height: 740 },
  desktop: { width: 1280, height: 800 },
  tv: { width: 1920, height: 1080 },
} as const

/** Debian's Chromium, headless, with every call home switched off; `hearth.test` is this machine. */
export function openChromium(): Promise<Browser> {
  return chromium.launch({
    executablePath: process.env.CHROMIUM_PATH ?? '/usr/bin/chromium',
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
      '--no-first-run',
      '--host-resolver-rules=MAP hearth.test 127.0.0.1',
    ],
  })
}

/** A browser of its own: cookies, storage and screen. Faults on its pages collect in `faults`. Answers can be put on only where no worker is. */
export async function openContext(
  browser: Browser,
  screen: keyof typeof screens,
  dark = false,
  serviceWorkers: 'allow' | 'block' = 'block',
): Promise<{ context: BrowserContext; page: Page; faults: string[] }> {
  const context = await browser.newContext({
    viewport: screens[screen],
    colorScheme: dark ? 'dark' : 'light',
    locale: 'en-GB',
    reducedMotion: 'reduce',
    serviceWorkers,
  })
  const page = await context.newPage()
  const faults: string[] = []
  page.on('pageerror', (error) => faults.push(error.message))
  page.on('console', (message) => {
    if (message.type() === 'error' && /Content Security Policy|Uncaught/.test(message.text())) faults.push(message.text())
  })
  page.setDefaultTimeout(30_000)
  return { context, page, faults }
}

/** A picture to look at, under `screenshots/`. */
export async function picture(page: Page, name: string): Promise<void> {
  mkdirSync(SHOTS, { recursive: true })
  await page.screenshot({ path: join(SHOTS, `${name}.png`) })
}

interface Violation {
  id: string
  help: string
  nodes: { target: unknown; failureSummary?: string }[]
}

async function expectNoViolation(page: Page, options: object): Promise<void> {
  if (!(await page.evaluate('"axe" in window'))) await page.evaluate(AXE)
  const run = `axe.run(document, ${JSON.stringify({ ...options, resultTypes: ['violations'] })}).then((result) => result.violations)`
  const violations = (await page.evaluate(run)) as Violation[]
  expect
    .soft(
      violations.map(
        ({ id, help, nodes }) => `${id}: ${help} ${JSON.stringify(nodes.map(({ target, failureSummary }) => [target, failureSummary]))}`,
      ),
      page.url(),
    )
    .toEqual([])
}

/** Fails where axe finds something that keeps a person with a screen reader, a keyboard or weak eyes out. */
export const expectAccessible = (page: Page): Promise<void> => expectNoViolation(page, {})

/** As `expectAccessible`, of the contrast alone: for a page in its other colours, of which axe has seen the rest. */
export const expectContrast = (page: Page): Promise<void> =>
  expectNoViolation(page, { runOnly: { type: 'rule', values: ['color-contrast'] } })

/** Fails where a text is smaller than 20 px, or keeps less than 7:1 from its ground (4.5:1 where it is large). */
export async function expectReadableAcrossARoom(page: Page): Promise<void> {
  await expectNoViolation(page, { runOnly: { type: 'rule', values: ['color-contrast-enhanced'] } })
  const small = await page.evaluate(() => {
    const found = new Set<string>()
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      const element = node.parentElement
      if (!element || !node.textContent?.trim() || element.closest('.visually-hidden, script, style, option')) continue
      const { width, height } = element.getBoundingClientRect()
      const size = Number.parseFloat(getComputedStyle(element).fontSize)
      if (width > 1 && height > 1 && size < 19.9) found.add(`${size} px: ${node.textContent.trim().slice(0, 40)}`)
    }
    return [...found]
  })
  expect.soft(small, page.url()).toEqual([])
}

/** A loopback port that was free a moment ago. */
export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer()
    probe.once('error', reject)
    probe.listen(0, '127.0.0.1', () => {
      const address = probe.address()
      probe.close(() => resolve(typeof address === 'object' && address ? address.port : 0))
    })
  })
}
