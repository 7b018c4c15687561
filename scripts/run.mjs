import { spawn } from 'node:child_process'
import { constants } from 'node:os'
import { delimiter, dirname } from 'node:path'
import { inRoot, root } from './project.mjs'
import { runtime } from './runtime.mjs'

/** A second signal of the same kind within this time is the same one, arriving by another way. */
const SAME_SIGNAL_MS = 250

/** @type {NodeJS.Signals[]} */
const PASSED_ON = ['SIGINT', 'SIGTERM', 'SIGHUP']

/** @typedef {{ env?: Record<string, string> }} RunOptions */

/** @param {RunOptions} options */
function environment({ env = {} }) {
  return {
    ...process.env,
    // Whatever starts `node` by name further down finds the same one.
    PATH: `${dirname(runtime())}${delimiter}${process.env.PATH ?? ''}`,
    NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE ?? inRoot('node_modules', '.cache', 'compile'),
    ...env,
  }
}

/** @param {import('node:child_process').ChildProcess} child */
function exitOf(child) {
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code, signal) => resolve(code ?? 128 + (signal ? constants.signals[signal] : 0)))
  })
}

/**
 * Lets the child decide how to stop: this process passes signals on and waits for it.
 * @param {import('node:child_process').ChildProcess} child
 */
function passSignals(child) {
  let last = { name: '', at: 0 }
  /** @param {NodeJS.Signals} name */
  const pass = (name) => {
    const repeated = last.name === name && Date.now() - last.at < SAME_SIGNAL_MS
    last = { name, at: Date.now() }
    // A terminal gives Ctrl-C to every process of the group, the child included.
    if (repeated || (name === 'SIGINT' && process.stdin.isTTY)) return
    child.kill(name)
  }
  for (const name of PASSED_ON) process.on(name, pass)
  return () => {
    for (const name of PASSED_ON) process.off(name, pass)
  }
}

/**
 * Runs a program in the terminal of this one and resolves to its exit status.
 * @param {string} program
 * @param {string[]} args
 * @param {RunOptions} [options]
 * @returns {Promise<number>}
 */
export async function run(program, args, options = {}) {
  const child = spawn(program, args, { cwd: root, stdio: 'inherit', env: environment(options) })
  const release = passSignals(child)
  return exitOf(child).finally(release)
}

/**
 * Runs a file of the checkout on the chosen Node.
 * @param {string[]} args
 * @param {RunOptions} [options]
 */
export const runNode = (args, options) => run(runtime(), args, options)

/**
 * Runs a program out of sight and hands back what it said.
 * @param {string} program
 * @param {string[]} args
 * @param {import('node:child_process').SpawnOptions} [options]
 */
export async function listen(program, args, options = {}) {
  const child = spawn(program, args, { cwd: root, stdio: ['ignore', 'pipe', 'pipe'], ...options })
  let said = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (text) => {
      said += text
    })
  }
  return { code: await exitOf(child), said }
}

/**
 * Runs a file of the checkout on the chosen Node, out of sight.
 * @param {string[]} args
 * @param {RunOptions} [options]
 */
export const listenNode = (args, options = {}) => listen(runtime(), args, { env: environment(options) })
