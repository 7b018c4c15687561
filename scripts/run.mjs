import { spawn } from 'node:child_process'
import { delimiter, dirname } from 'node:path'
import { inRoot, root } from './project.mjs'
import { runtime } from './runtime.mjs'
import { startChild, stopIfTold } from './signals.mjs'

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

/**
 * Runs a program in the terminal of this one and resolves to its exit status.
 * @param {string} program
 * @param {string[]} args
 * @param {RunOptions} [options]
 * @returns {Promise<number>}
 */
export async function run(program, args, options = {}) {
  return startChild(() => spawn(program, args, { cwd: root, stdio: 'inherit', env: environment(options) })).exited
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
  const { child, exited } = startChild(() => spawn(program, args, { cwd: root, stdio: ['ignore', 'pipe', 'pipe'], ...options }))
  let said = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (text) => {
      said += text
    })
  }
  const code = await exited
  stopIfTold()
  return { code, said }
}

/**
 * Runs a file of the checkout on the chosen Node, out of sight.
 * @param {string[]} args
 * @param {RunOptions} [options]
 */
export const listenNode = (args, options = {}) => listen(runtime(), args, { env: environment(options) })
