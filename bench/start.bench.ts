import { spawnSync } from 'node:child_process'
import { setTimeout as wait } from 'node:timers/promises'
import { interleave, median, report, residentMb } from './support/measure.ts'
import { startServer } from './support/server-process.ts'

/** How soon a server answers, and what it takes while it has nothing to do. */
const ROUNDS = 5
const SETTLE_MS = 5_000

async function firstAnswer(): Promise<number> {
  const startedAt = performance.now()
  const server = await startServer()
  const response = await fetch(`${server.url}/api/status`)
  const ms = performance.now() - startedAt
  if (!response.ok) throw new Error(`/api/status answered ${response.status}`)
  await server.stop()
  return ms
}

async function emptyNode(): Promise<number> {
  const startedAt = performance.now()
  spawnSync(process.execPath, ['-e', '0'])
  return performance.now() - startedAt
}

await interleave(1, { firstAnswer, emptyNode })
const results = await interleave(ROUNDS, { firstAnswer, emptyNode })
report('process start to first 200, in ms', median(results.firstAnswer), '≤ 800')
report('process start to first 200, over an empty Node', median(results.firstAnswer) / median(results.emptyNode), 'no aim')

const idle = await startServer()
await fetch(`${idle.url}/api/status`)
await wait(SETTLE_MS)
report('resident memory of the idle server without a model, in MB', residentMb(idle.pid), '≤ 130')
await idle.stop()
