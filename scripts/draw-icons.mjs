// Draws the pictures of the app from resources/icon.svg. Run by hand after the drawing changed: node scripts/draw-icons.mjs
import { readFileSync, writeFileSync } from 'node:fs'
import { chromium } from 'playwright'
import { inRoot } from './project.mjs'

const drawing = readFileSync(inRoot('resources', 'icon.svg'), 'utf8')
/** The flame alone, close up: it shows on light and dark panels alike. */
const flame = drawing.replace('viewBox="0 0 64 64"', 'viewBox="15 18 36 36"').replace(/<path fill="#2b2621"[^>]*>/, '')

/** The drawing small on warm ground that fills the square: phones cut it into shapes of their own. */
const onGround = drawing
  .replace('viewBox="0 0 64 64"', 'viewBox="-26 -26 116 116"')
  .replace(/(<svg[^>]*>)/, '$1<rect x="-26" y="-26" width="116" height="116" fill="#f7f2ea" />')

/** @type {[path: string, side: number, drawing: string][]} Sides in pixels; fine screens take the `@2x` file by its name. */
const pictures = [
  ['resources/icon.png', 512, drawing],
  ['resources/tray.png', 22, flame],
  ['resources/tray@2x.png', 44, flame],
  ['renderer/public/icon-192.png', 192, drawing],
  ['renderer/public/icon-512.png', 512, drawing],
  ['renderer/public/icon-maskable.png', 512, onGround],
  ['renderer/public/apple-touch-icon.png', 180, onGround],
]

const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: ['--no-sandbox'] })
try {
  for (const [path, side, svg] of pictures) {
    const page = await browser.newPage({ viewport: { width: side, height: side } })
    await page.setContent(`<style>body { margin: 0 } svg { display: block; width: ${side}px }</style>${svg}`)
    writeFileSync(inRoot(path), await page.screenshot({ omitBackground: true }))
    await page.close()
  }
} finally {
  await browser.close()
}
