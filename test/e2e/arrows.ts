import type { Locator, Page } from 'playwright'
import { expect } from 'vitest'

type Arrow = 'ArrowUp' | 'ArrowDown' | 'ArrowLeft' | 'ArrowRight'

/** What has the focus, in words, and what is wrong with that where somebody on a sofa would not see it. */
export function focusNow(page: Page): Promise<{ on: string; fault: string | null }> {
  return page.evaluate(() => {
    const active = document.activeElement
    if (!(active instanceof HTMLElement) || active === document.body) return { on: 'nothing', fault: 'the focus is lost' }
    const on = `<${active.localName}> ${(active.getAttribute('aria-label') ?? active.textContent ?? '').trim().slice(0, 60)}`
    // A box to tick is drawn by what stands in its label.
    const seen = (active instanceof HTMLInputElement && active.labels?.[0]) || active
    const { left, right, top, bottom, width, height } = seen.getBoundingClientRect()
    if (width < 4 || height < 4) return { on, fault: `it is ${width} by ${height} px` }
    const [fromX, toX, fromY, toY] = [Math.max(0, left), Math.min(innerWidth, right), Math.max(0, top), Math.min(innerHeight, bottom)]
    if (fromX >= toX || fromY >= toY) return { on, fault: 'it is outside the screen' }
    if (active.matches('h1')) return { on, fault: null }
    const hit = document.elementFromPoint((fromX + toX) / 2, (fromY + toY) / 2)
    const isOnTop = hit !== null && (seen.contains(hit) || hit.contains(seen))
    return { on, fault: isOnTop ? null : `it is covered by <${hit?.localName}> ${hit?.className}` }
  })
}

/** Presses an arrow; what has the focus then must be seen. */
export async function press(page: Page, arrow: Arrow): Promise<string> {
  await page.keyboard.press(arrow)
  const { on, fault } = await focusNow(page)
  expect(fault, `after ${arrow} on ${page.url()}: ${on}`).toBeNull()
  return on
}

const has = (target: Locator) =>
  target.evaluate((element) => element === document.activeElement || element.contains(document.activeElement))

/** Presses an arrow until this, or something in it, has the focus. */
export async function pressUntil(page: Page, arrow: Arrow, target: Locator, atMost = 40): Promise<void> {
  for (let step = 0; step < atMost; step++) {
    if (await has(target)) return
    await press(page, arrow)
  }
  throw new Error(`${atMost} times ${arrow} did not lead to ${target}; the focus is on ${(await focusNow(page)).on}.`)
}
