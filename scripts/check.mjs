import { availableParallelism } from 'node:os'
import { inRoot } from './project.mjs'
import { listenNode } from './run.mjs'

const bin = (/** @type {string[]} */ ...parts) => inRoot('node_modules', ...parts)

/** @param {string} side */
function types(side) {
  const note = inRoot('node_modules', '.cache', `types-${side}.json`)
  const project = side === 'root' ? '.' : side
  return [bin('typescript', 'bin', 'tsc'), '-p', project, '--incremental', '--tsBuildInfoFile', note]
}

/** @type {[name: string, args: string[]][]} Slowest first, so that none is left alone at the end. */
const steps = [
  ['renderer types', [bin('svelte-check', 'bin', 'svelte-check'), '--tsconfig', 'renderer/tsconfig.json', '--fail-on-warnings']],
  ['server types', types('server')],
  ['test types', types('root')],
  ['main types', types('main')],
  ['format and lint', [bin('@biomejs', 'biome', 'bin', 'biome'), 'check', '.']],
]

/**
 * Format, lint and types of every side; says only what is wrong.
 * @returns {Promise<number>} exit status
 */
export async function check() {
  const waiting = [...steps]
  let failed = 0
  async function worker() {
    for (let step = waiting.shift(); step; step = waiting.shift()) {
      const { code, said } = await listenNode(step[1])
      if (code === 0) continue
      failed += 1
      console.error(`${step[0]}:\n${said.trim()}\n`)
    }
  }
  await Promise.all(Array.from({ length: Math.min(2, availableParallelism()) }, worker))
  console.log(failed === 0 ? 'Format, lint and types are in order.' : `${failed} of ${steps.length} checks found something.`)
  return failed === 0 ? 0 : 1
}
