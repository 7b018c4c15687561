import { existsSync, readdirSync } from 'node:fs'
import { desktop, ensureBuilt, pages, server } from './build.mjs'
import { check } from './check.mjs'
import { electronBinary, ensureElectron, noWindowHere } from './electron.mjs'
import { ensureInstalled } from './install.mjs'
import { inRoot, PlainFault } from './project.mjs'
import { run, runNode } from './run.mjs'
import { Interrupted, passSignals } from './signals.mjs'

const PRODUCTION = { env: { NODE_ENV: 'production' } }
const VITEST = 'node_modules/vitest/vitest.mjs'

/** @typedef {(args: string[]) => Promise<number>} Command */

/** @type {Command} */
async function serve(args) {
  await ensureBuilt(pages)
  await ensureBuilt(server)
  return runNode([server.output, ...args], PRODUCTION)
}

/** @param {string} electron */
async function openWindow(electron) {
  for (const part of [pages, server, desktop]) await ensureBuilt(part)
  return run(electron, [inRoot()], PRODUCTION)
}

/** @type {Command} The desktop app where it can be, else the server alone. */
async function start(args) {
  const electron = electronBinary()
  return electron && !noWindowHere() ? openWindow(electron) : serve(args)
}

/** @type {Command} */
async function openDesktop() {
  const obstacle = noWindowHere()
  if (obstacle) throw new PlainFault(`The desktop window cannot open: ${obstacle}. \`npm run serve\` runs Hearth without one.`)
  return openWindow(await ensureElectron())
}

/** @type {Command} Two addresses: Vite's, whose pages follow every edit, and the server's own, restarted at every edit of it. */
async function dev(args) {
  await ensureBuilt(pages)
  const serving = runNode(['--watch', '--watch-preserve-output', 'server/server.ts', ...args])
  const following = runNode(['node_modules/vite/bin/vite.js', '--config', 'renderer/vite.config.ts'])
  return Math.max(...(await Promise.all([serving, following])))
}

/** @type {Command} */
async function build() {
  for (const part of [pages, server, desktop]) await ensureBuilt(part)
  return 0
}

/** @type {Command} Everything CI runs; with file names, only those test files. */
async function test(args) {
  const checked = args.length === 0 ? await check() : 0
  await ensureBuilt(pages)
  return (await runNode([VITEST, 'run', ...args])) || checked
}

/** @type {Command} One after the other, since each measures time; with words, only the benches named so. */
async function bench(args) {
  for (const part of [pages, server]) await ensureBuilt(part)
  const chosen = readdirSync(inRoot('bench')).filter(
    (name) => name.endsWith('.bench.ts') && (args.length === 0 || args.some((word) => name.includes(word))),
  )
  if (chosen.length === 0) throw new PlainFault(`No bench is named like ${args.join(' or ')}.`)
  let worst = 0
  for (const name of chosen.sort()) worst = Math.max(worst, await runNode([`bench/${name}`], PRODUCTION))
  return worst
}

/** @type {Command} Installers for this platform, in release/. */
async function dist(args) {
  await build([])
  return runNode(['node_modules/electron-builder/cli.js', '--publish', 'never', ...args], PRODUCTION)
}

/** @type {Record<string, Command>} */
const commands = {
  start,
  serve,
  desktop: openDesktop,
  dev,
  build,
  check: () => check(),
  test,
  'test:long': (args) => runNode([VITEST, 'run', '--config', 'vitest.long.config.ts', ...args]),
  bench,
  dist,
  setup: (args) => runNode(['server/cli/setup.ts', ...args], PRODUCTION),
  'reset-owner': (args) => runNode(['server/cli/reset-owner.ts', ...args], PRODUCTION),
}

async function main() {
  const [name = 'start', ...args] = process.argv.slice(2)
  const command = commands[name]
  if (!command) throw new PlainFault(`There is no command "${name}". There are: ${Object.keys(commands).join(', ')}.`)
  if (!existsSync(inRoot('package-lock.json'))) throw new PlainFault('package-lock.json is missing; get a complete copy of Hearth.')
  await ensureInstalled()
  return command(args)
}

/** @param {unknown} error */
function statusOf(error) {
  if (error instanceof Interrupted) return error.status
  if (!(error instanceof PlainFault)) throw error
  console.error(error.message)
  return 1
}

passSignals()
process.exitCode = await main().catch(statusOf)
