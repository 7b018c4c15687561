import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { withLock } from './lock.mjs'
import { inRoot, PlainFault, root } from './project.mjs'
import { listenNode } from './run.mjs'
import { fingerprint } from './stamp.mjs'

const VITE = inRoot('node_modules', 'vite', 'bin', 'vite.js')

/**
 * @typedef {object} Part
 * @property {string} name
 * @property {string} output a file that is there once the part is built
 * @property {string[]} how what vite is told
 * @property {string[]} places what it is made of
 * @property {(path: string) => boolean} [counts]
 */

/** @param {string} path */
const isSharedWithPages = (path) =>
  !path.startsWith('server/') || path === 'server/api.ts' || /^server\/kit\/[^/]+\.ts$/.test(path) || path.endsWith('.contract.ts')

/** @type {Part} The pages that window, browser and phone show. */
export const pages = {
  name: 'pages',
  output: 'dist/renderer/index.html',
  how: ['--config', 'renderer/vite.config.ts'],
  places: ['package-lock.json', 'tsconfig.base.json', 'renderer', 'server', 'resources'],
  counts: isSharedWithPages,
}

/** @type {Part} The server in few files, as `start` and the desktop app run it. */
export const server = {
  name: 'server',
  output: 'dist/server/server.js',
  how: ['--config', 'vite.server.config.ts'],
  places: ['package-lock.json', 'tsconfig.base.json', 'vite.server.config.ts', 'server'],
}

/** @type {Part} The shell around it as Electron runs it. */
export const desktop = {
  name: 'desktop app',
  output: 'dist/main/main.js',
  how: ['--config', 'vite.desktop.config.ts', '--app'],
  places: ['package-lock.json', 'tsconfig.base.json', 'vite.desktop.config.ts', 'main', 'server/control.contract.ts'],
}

/** @param {Part} part */
const stampPath = (part) => inRoot('dist', `${part.name.replace(' ', '-')}.stamp`)

/**
 * @param {Part} part
 * @param {string} wanted
 */
export function isBuilt(part, wanted) {
  const path = stampPath(part)
  return existsSync(inRoot(part.output)) && existsSync(path) && readFileSync(path, 'utf8') === wanted
}

/** @param {Part} part */
export const fingerprintOf = (part) => fingerprint(root, part.places, part.counts)

/** @param {Part} part */
async function build(part) {
  console.log(`Building the ${part.name}…`)
  // Taken away first, so that a build cut off half-way never passes for a whole one.
  rmSync(stampPath(part), { force: true })
  const { code, said } = await listenNode([VITE, 'build', ...part.how, '--logLevel', 'warn'], { env: { NODE_ENV: 'production' } })
  if (code === 0) return
  console.error(said.trim())
  throw new PlainFault(`The ${part.name} could not be built; what is wrong stands above.`)
}

/**
 * Builds a part unless what it is made of is what it was at the last build.
 * @param {Part} part
 */
export async function ensureBuilt(part) {
  if (isBuilt(part, fingerprintOf(part))) return
  await withLock(part.name.replace(' ', '-'), async () => {
    const wanted = fingerprintOf(part)
    if (isBuilt(part, wanted)) return
    await build(part)
    mkdirSync(inRoot('dist'), { recursive: true })
    writeFileSync(stampPath(part), wanted)
  })
}
