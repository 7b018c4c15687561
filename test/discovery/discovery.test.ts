import { execFile, execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { createDiscovery } from '../../server/modules/discovery/discovery.module.ts'

const NETWORK = [
  'ip link set lo up',
  'ip link add home type veth peer name other',
  'ip address add 192.168.77.1/24 dev home',
  'ip link set home up',
  'ip link set other up',
  'ip route add 224.0.0.0/4 dev home',
].join(' && ')

/** Why no network of one’s own can be had here; null where it can. */
function reason(): string | null {
  try {
    execFileSync('unshare', ['-rn', 'sh', '-c', NETWORK], { stdio: 'pipe' })
    return null
  } catch (error) {
    return `a network namespace cannot be made here: ${(error as Error).message.split('\n')[0]}`
  }
}

test('it is announced from set-up on, anew when something changes, and withdrawn when it stops', async ({ skip }) => {
  const why = reason()
  skip(why !== null, why ?? '')
  const script = `${NETWORK} && exec "$0" "$1"`
  const file = join(import.meta.dirname, 'in-own-network.ts')
  const { stdout } = await promisify(execFile)('unshare', ['-rn', 'sh', '-c', script, process.execPath, file], { timeout: 25_000 })
  const { before, seen, down, faults } = JSON.parse(stdout)
  expect({ before, faults, down }).toEqual({ before: 0, faults: [], down: 2 })
  const common = { name: 'Attic (0f0f)', host: 'hearth.local', port: 7420, addresses: ['192.168.77.1'] }
  const txt = { v: '9.9.9', name: 'Attic', path: '/', id: '0f0f0f0f-1111-4222-8333-444444444444' }
  expect(seen).toEqual([
    { ...common, txt: { ...txt, tls: '0' } },
    { ...common, txt: { ...txt, tls: '1' } },
  ])
})

test('switched off, it does not even look', async () => {
  let looked = 0
  const discovery = createDiscovery({
    enabled: false,
    listening: () => ({ host: '0.0.0.0', port: 7420, secure: false }),
    identity() {
      looked += 1
      return { id: '0f0f0f0f-1111-4222-8333-444444444444', name: 'Attic' }
    },
    onFault: (error) => expect.unreachable(String(error)),
    version: '1',
    lookAgainMs: 1,
  })
  await discovery.start?.()
  await new Promise((resolve) => setTimeout(resolve, 20))
  await discovery.stop?.()
  expect(looked).toBe(0)
})
