import { createHash } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { withLock } from './lock.mjs'
import { inRoot, PlainFault } from './project.mjs'
import { listen } from './run.mjs'

const STAMP = inRoot('node_modules', '.hearth-install')
const host = `${process.platform}-${process.arch}`

/** @param {string} path */
const textOf = (path) => (existsSync(path) ? readFileSync(path, 'utf8') : null)

/**
 * What an installed tree with this lock file on this platform is marked with.
 * @param {string} lock
 * @param {string} on
 */
export const installStamp = (lock, on) => `${on} ${createHash('sha256').update(lock).digest('hex')}`

/**
 * @param {string} lock
 * @param {string} tree
 */
function holdsAll(lock, tree) {
  const wanted = Object.entries(JSON.parse(lock).packages).filter(([path]) => path !== '')
  const present = JSON.parse(tree).packages
  return wanted.every(([path, entry]) => entry.optional || entry.devOptional || present[path]?.version === entry.version)
}

/**
 * Whether the packages must be installed. `adopt` = they were put there by npm directly and are the right ones.
 * @param {{ lock: string, tree: string | null, stamp: string | null, host: string }} facts `tree` is npm's own note of what it installed
 * @returns {'ready' | 'adopt' | 'install'}
 */
export function judgeTree({ lock, tree, stamp, host: on }) {
  if (tree === null) return 'install'
  if (stamp === installStamp(lock, on)) return 'ready'
  const fromElsewhere = stamp !== null && !stamp.startsWith(`${on} `)
  return !fromElsewhere && holdsAll(lock, tree) ? 'adopt' : 'install'
}

function judge() {
  const lock = readFileSync(inRoot('package-lock.json'), 'utf8')
  const verdict = judgeTree({ lock, tree: textOf(inRoot('node_modules', '.package-lock.json')), stamp: textOf(STAMP), host })
  return { verdict, mark: () => writeFileSync(STAMP, installStamp(lock, host)) }
}

/**
 * @param {string[]} args
 * @param {NodeJS.ProcessEnv} [env]
 */
function npm(args, env = {}) {
  const options = { env: { ...process.env, ...env } }
  // npm tells the scripts it starts where it and its Node are; the name alone may find another one, or none.
  const { npm_execpath: cli, npm_node_execpath: node = process.execPath } = process.env
  if (cli?.endsWith('npm-cli.js')) return listen(node, [cli, ...args], options)
  return listen('npm', args, { ...options, shell: process.platform === 'win32' })
}

/** The one package that is compiled where it is installed; without it vectors are compared one by one. */
async function compileVectorIndex() {
  if (!existsSync(inRoot('node_modules', 'hnswlib-node'))) return false
  // The Node that comes with the packages carries its headers, so nothing is fetched for this.
  const carried = inRoot('node_modules', `node-${host}`)
  const { code } = await npm(['rebuild', 'hnswlib-node'], existsSync(carried) ? { npm_config_nodedir: carried } : {})
  return code === 0 && existsSync(inRoot('node_modules', 'hnswlib-node', 'build', 'Release', 'addon.node'))
}

async function install() {
  console.log('Installing what Hearth is made of; the first time this takes a minute or two.')
  // Scripts stay off: no package runs code here but the one compiled below. Development packages build the window's pages.
  const { code, said } = await npm([
    'ci',
    '--ignore-scripts',
    '--include=dev',
    '--include=optional',
    '--no-audit',
    '--no-fund',
    '--loglevel=error',
  ])
  if (code !== 0) {
    console.error(said.trim())
    throw new PlainFault('The packages could not be installed; npm says why above. Mend that and run the same command again.')
  }
  if (!(await compileVectorIndex())) {
    console.log(
      'No working C++ compiler was found (or scripts are switched off): memory search will compare exactly, which is slower only with very many memories.',
    )
  }
}

/** Installs the packages unless the right ones are there. Starts of the same checkout wait for each other. */
export async function ensureInstalled() {
  if (judge().verdict === 'ready') return
  await withLock('install', async () => {
    const { verdict, mark } = judge()
    if (verdict === 'install') await install()
    mark()
  })
}
