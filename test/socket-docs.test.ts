import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { socketDocs } from '../server/kit/socket-docs.ts'
import { socketMessages } from '../server/sockets.ts'

const ROOT = join(import.meta.dirname, '..')

test('docs/sockets.md is what scripts/write-socket-docs.mjs makes of the schemas', () => {
  expect(readFileSync(join(ROOT, 'docs', 'sockets.md'), 'utf8')).toBe(socketDocs(socketMessages))
})

test('every message that a module declares is in it', () => {
  const declared = readdirSync(join(ROOT, 'server', 'modules'), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .map((file) => readFileSync(join(ROOT, 'server', 'modules', file), 'utf8'))
    .flatMap((source) => [...source.matchAll(/(?:client|server)Message\(\{\s*type: '([^']+)'/g)].map(([, type]) => type))
  const gathered = [...socketMessages.client, ...socketMessages.server].map(({ type }) => type)
  expect(gathered.sort()).toEqual(declared.sort())
  expect(declared.length).toBeGreaterThan(3)
})
