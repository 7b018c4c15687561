import { execFileSync } from 'node:child_process'
import { closeSync, existsSync, mkdirSync, openSync, readFileSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { toldOf, toldText } from '../../server/modules/memory/told-text.ts'
import { json } from '../support/credentials.ts'
import { type Browser, type House, startHouse } from '../support/house.ts'
import { outcome } from './family.ts'

let house: House
let owner: Browser
let shipped: string
beforeAll(async () => {
  house = await startHouse()
  owner = await house.owner()
  shipped = (await owner.api.memory.raw()).soul
})
afterAll(() => house[Symbol.asyncDispose]())
afterEach(() => {
  for (const name of ['soul.md', 'memory.md']) rmSync(path(name), { recursive: true, force: true })
})

const path = (name: string) => join(house.dataPath, name)
const raw = async () => {
  const { soul, memory } = await owner.api.memory.raw()
  return { soul, memory }
}

test('the personality that comes with it holds until there is another', async () => {
  expect(shipped).toContain('assistant of this household')
  const soul = 'Be a pirate. 🏴‍☠️\n'
  expect(await owner.api.memory.setSoul({ body: { content: soul } })).toEqual({ soul, memory: '', told: { soul: soul.length, memory: 0 } })
  expect(readFileSync(path('soul.md'), 'utf8')).toBe(soul)
  expect(existsSync(path('soul.md.part'))).toBe(false)
  await house.restart()
  owner = await house.owner()
  expect((await raw()).soul).toBe(soul)
  rmSync(path('soul.md'))
  expect((await raw()).soul).toBe(shipped)
})

test('what is edited by hand holds at once', async () => {
  for (let turn = 0; turn < 20; turn++) {
    writeFileSync(path('soul.md'), `Version ${turn % 10}`)
    writeFileSync(path('memory.md'), `Note ${turn % 10}`)
    expect(await raw()).toEqual({ soul: `Version ${turn % 10}`, memory: `Note ${turn % 10}` })
  }
})

test('a long file of one’s own is read whole and never written', async () => {
  const lines = Array.from({ length: 10_000 }, (_, n) => `- line ${n}: the cupboard in room ${n % 7}`).join('\n')
  writeFileSync(path('memory.md'), lines)
  expect((await raw()).memory).toBe(lines)
  await owner.api.memory.setSoul({ body: { content: 'x', memory: 'never' } })
  expect(readFileSync(path('memory.md'), 'utf8')).toBe(lines)
})

test('of a long text whole lines are told, and where that ends is said', async () => {
  const lines = Array.from({ length: 10_000 }, (_, n) => `- line ${n}`)
  writeFileSync(path('memory.md'), lines.join('\n'))
  const { memory, told } = await owner.api.memory.raw()
  const known = memory.slice(0, told.memory).split('\n')
  expect(known).toEqual(lines.slice(0, known.length))
  expect(told.memory).toBeGreaterThan(7_980)
  expect(told.memory).toBeLessThanOrEqual(8_000)
  expect(toldText(memory, 8_000).split('\n').at(-2)).toBe(known.at(-1))
  expect(toldText(memory, 8_000)).toMatch(/no more of it is told\.\)$/)
  const sent = await owner.fetch('/api/memory/soul', json({ content: 'x'.repeat(20_000), memory, told }, 'PUT'))
  expect(((await sent.json()) as { told: object }).told).toEqual({ soul: 12_000, memory: told.memory })
})

test('one long line is told as far as it goes, and never half of a character', () => {
  expect(toldText('🎂'.repeat(100), 101)).toBe(`${'🎂'.repeat(50)}\n(It goes on, but no more of it is told.)`)
  expect(toldOf(`\n\n${'x'.repeat(50)}`, 20)).toBe(20)
  expect(toldText('short\n', 20)).toBe('short\n')
})

test('a file of 100 MB is cut, and says so', async () => {
  const file = openSync(path('memory.md'), 'w')
  closeSync(file)
  truncateSync(path('memory.md'), 100 * 1024 * 1024)
  const { memory } = await raw()
  expect(memory.length).toBeLessThan(1_100_000)
  expect(memory).toMatch(/too long to be read/)
})

test('what is no text file, or lies outside, is not read', async () => {
  const outside = join(tmpdir(), `hearth-outside-${process.pid}.md`)
  writeFileSync(outside, 'outside')
  symlinkSync(outside, path('memory.md'))
  symlinkSync('/etc/passwd', path('soul.md'))
  expect(await raw()).toEqual({ soul: shipped, memory: '' })
  rmSync(outside)
  for (const name of ['soul.md', 'memory.md']) rmSync(path(name))

  mkdirSync(path('soul.md'))
  mkdirSync(path('memory.md'))
  expect(await raw()).toEqual({ soul: shipped, memory: '' })
  expect(await outcome(owner.fetch('/api/memory/soul', json({ content: 'x' }, 'PUT')))).toBe('409 soul_in_the_way')
  for (const name of ['soul.md', 'memory.md']) rmSync(path(name), { recursive: true })

  if (process.platform !== 'win32') {
    execFileSync('mkfifo', [path('soul.md'), path('memory.md')])
    expect(await raw()).toEqual({ soul: shipped, memory: '' })
  }
})

test('bytes that are no text do no harm', async () => {
  writeFileSync(path('memory.md'), Buffer.from([0x61, 0xff, 0xfe, 0x00, 0xc3, 0x62]))
  const { memory } = await raw()
  expect(memory).toBe('a\uFFFD\uFFFD\uFFFDb')
})

test('the personality is for admins to change, and has a length', async () => {
  const member = await house.pair('Phone')
  expect(await outcome(member.fetch('/api/memory/soul', json({ content: 'x' }, 'PUT')))).toBe('403 forbidden')
  expect(await outcome(owner.fetch('/api/memory/soul', json({ content: 'x'.repeat(100_001) }, 'PUT')))).toBe('400 validation_failed')
  const written = await Promise.all(['a', 'b'].map((content) => owner.api.memory.setSoul({ body: { content: content.repeat(50_000) } })))
  expect(written.map(({ soul }) => soul.length)).toEqual([50_000, 50_000])
  expect(new Set((await raw()).soul).size).toBe(1)
})
