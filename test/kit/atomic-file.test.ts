import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { writeFileAtomic } from '../../server/kit/atomic-file.ts'
import { needsSmallDisk, noSmallDisk, smallDisk } from '../support/small-disk.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'hearth-atomic-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

test('a file is made with its folders and its mode, then replaced, and leaves nothing beside it', () => {
  const path = join(folder, 'config', 'deep', 'secrets.env')
  writeFileAtomic(path, 'first', 0o600)
  expect(readFileSync(path, 'utf8')).toBe('first')
  if (process.platform !== 'win32') expect(statSync(path).mode & 0o777).toBe(0o600)
  writeFileAtomic(path, 'second, and longer: 🏠', 0o600)
  expect(readFileSync(path, 'utf8')).toBe('second, and longer: 🏠')
  expect(readdirSync(join(folder, 'config', 'deep'))).toEqual(['secrets.env'])
})

test.runIf(process.platform !== 'win32')('a secret is never readable by others on the way, whatever a crash left there', () => {
  const path = join(folder, 'secrets.env')
  writeFileSync(`${path}.part`, 'half of', { mode: 0o644 })
  writeFileAtomic(path, 'secret', 0o600)
  expect(statSync(path).mode & 0o777).toBe(0o600)
  expect(readFileSync(path, 'utf8')).toBe('secret')
})

test.skipIf(noSmallDisk)(`on a full disk the old file stays whole${needsSmallDisk}`, () => {
  using disk = smallDisk(1)
  const path = join(disk.path, 'settings.json')
  const before = 'x'.repeat(200_000)
  writeFileAtomic(path, before)
  writeFileSync(join(disk.path, 'room'), Buffer.alloc(30_000))
  disk.fill()
  rmSync(join(disk.path, 'room'))
  expect(() => writeFileAtomic(path, 'y'.repeat(200_000))).toThrow('ENOSPC')
  expect(readFileSync(path, 'utf8') === before).toBe(true)
  expect(readdirSync(disk.path).sort()).toEqual(['ballast', 'settings.json'])
  disk.clear()
  writeFileAtomic(path, 'y')
  expect(readFileSync(path, 'utf8')).toBe('y')
})
