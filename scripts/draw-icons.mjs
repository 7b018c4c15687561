// Draws the pictures of the app from resources/icon.svg. Run by hand after the drawing changed: node scripts/draw-icons.mjs
import { readFileSync, writeFileSync } from 'node:fs'
import { chromium } from 'playwright'
import { inRoot } from './project.mjs'

const drawing = readFileSync(inRoot('resources', 'icon.svg'), 'utf8')
/** The flame alone, close up: it shows on light and dark panels alike. */
const flame = drawing.replace('viewBox="0 0 64 64"', 'viewBox="15 18 36 36"').replace(/<path fill="#2b2621"[^>]*>/, '')

/** @type {[name: string, side: number, drawing: string][]} Sides in pixels; fine screens take the `@2x` file by its name. */
const pictures = [
  ['icon.png', 512, drawing],
  ['tray.png', 22, flame],
  ['tray@2x.png', 44, flame],
]

const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: ['--no-sandbox'] })
try {
  for (const [name, side, svg] of pictures) {
    const page = await browser.newPage({ viewport: { width: side, height: side } })
    await page.setContent(`<style>body { margin: 0 } svg { display: block; width: ${side}px }</style>${svg}`)
    writeFileSync(inRoot('resources', name), await page.screenshot({ omitBackground: true }))
    await page.close()
  }
} finally {
  await browser.close()
}
