import { setTimeout as wait } from 'node:timers/promises'
import { expect, test, vi } from 'vitest'
import { dataRoot, type ServerProcess, startServer } from '../support/process.ts'

vi.setConfig({ testTimeout: 120_000 })

const COUNT = 15
const SPREAD_MS = 80

/** Sets timers and reminders that come one after the other, from `firstMs` on; answers what each notification is to be about. */
async function setMany(server: ServerProcess, firstMs: number): Promise<string[]> {
  const { api } = await server.owner()
  const ids: string[] = []
  for (let at = 0; at < COUNT; at++) {
    const inMs = firstMs + at * SPREAD_MS
    ids.push((await api.timers.create({ body: { durationMs: inMs } })).id)
    ids.push((await api.todos.create({ body: { title: `thing ${at}`, remindAt: new Date(Date.now() + inMs).toISOString() } })).id)
  }
  return ids.sort()
}

async function about(server: ServerProcess): Promise<string[]> {
  const all = await (await server.owner()).api.notifications.list({ query: { limit: 500 } })
  return all.map(({ data }) => data.timerId ?? data.todoId ?? '').sort()
}

test('killed while timers ring and reminders come, the next start makes each that is missing, and none twice', async () => {
  using root = dataRoot()
  let server = await startServer(root.path)
  await server.setUp()
  const expected: string[] = []
  for (let round = 0; round < 3; round++) {
    expected.push(...(await setMany(server, 300)))
    await wait(100 + round * 400)
    await server.kill()
    server = await startServer(root.path)
  }
  await expect.poll(() => about(server), { timeout: 30_000, interval: 200 }).toEqual(expected.sort())
  await server.kill()
  server = await startServer(root.path)
  expect(await about(server)).toEqual(expected)
  await server.stop()
})
