import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { inRoot, PlainFault } from './project.mjs'
import { runNode } from './run.mjs'

const FOLDER = inRoot('node_modules', 'electron')

/** Electron's program, or null where only its npm package is there. */
export function electronBinary() {
  const note = join(FOLDER, 'path.txt')
  if (!existsSync(note)) return null
  const binary = join(process.env.ELECTRON_OVERRIDE_DIST_PATH ?? join(FOLDER, 'dist'), readFileSync(note, 'utf8').trim())
  return existsSync(binary) ? binary : null
}

/**
 * Why no window can be opened here, or null where one can.
 * @param {{ platform: string, uid: number | undefined, env: Record<string, string | undefined> }} host
 */
export function noWindowBecause({ platform, uid, env }) {
  if (platform !== 'linux') return null
  if (!env.DISPLAY && !env.WAYLAND_DISPLAY) return 'no display is attached'
  return uid === 0 ? 'a window is not opened as root' : null
}

/** The same, asked of this machine. */
export const noWindowHere = () => noWindowBecause({ platform: process.platform, uid: process.getuid?.(), env: process.env })

/** Electron's program, fetched first where it is not there yet. */
export async function ensureElectron() {
  const present = electronBinary()
  if (present) return present
  console.log('Fetching Electron for the desktop window (about 100 MB, once).')
  await runNode([join(FOLDER, 'install.js')])
  const fetched = electronBinary()
  if (!fetched) throw new PlainFault('Electron could not be fetched. `npm run serve` runs Hearth without a window; open it in a browser.')
  return fetched
}
