import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

interface Lock {
  packages: Record<string, { version?: string; dev?: boolean; optional?: boolean }>
}

/** Older ones have faults that a stranger on the network can use; of none of them need there be any. */
const oldest: Record<string, string> = {
  ws: '8.21.0', // CVE-2024-37890, CVE-2026-48779
  koa: '3.1.2',
  'adm-zip': '0.6.1',
  undici: '7.0.0',
}
/** Given up by those who made them. */
const abandoned = ['request', 'request-promise', 'querystring', 'node-uuid', 'jade', 'formidable-serverless', 'xmldom', 'crypto-js']

const { packages } = JSON.parse(readFileSync(join(import.meta.dirname, '..', '..', 'package-lock.json'), 'utf8')) as Lock
const shipped = Object.entries(packages)
  .filter(([path, { dev }]) => path !== '' && !dev)
  .map(([path, { version = '0' }]) => ({ name: path.split('node_modules/').at(-1) ?? '', version }))

const numbers = (version: string) => version.split('-')[0]?.split('.').map(Number) ?? []
function isOlder(version: string, than: string): boolean {
  const [have, want] = [numbers(version), numbers(than)]
  const at = want.findIndex((part, place) => part !== (have[place] ?? 0))
  return at >= 0 && (have[at] ?? 0) < (want[at] ?? 0)
}

test('no library is shipped that is known to let strangers in', () => {
  expect(shipped.length).toBeGreaterThan(50)
  expect(shipped.filter(({ name, version }) => oldest[name] && isOlder(version, oldest[name]))).toEqual([])
  expect(shipped.filter(({ name }) => abandoned.includes(name))).toEqual([])
})

test('an older version is told from a newer one', () => {
  const pairs: [string, string, boolean][] = [
    ['8.20.9', '8.21.0', true],
    ['8.21.0', '8.21.0', false],
    ['8.100.0', '8.21.0', false],
    ['9.0.0', '8.21.0', false],
    ['7.99.99', '8.21.0', true],
  ]
  for (const [have, want, expected] of pairs) expect(isOlder(have, want), `${have} and ${want}`).toBe(expected)
})
