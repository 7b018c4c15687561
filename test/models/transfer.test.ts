import { existsSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { Lookup } from '../../server/kit/guarded-connect.ts'
import { createHub, nextAddress } from '../../server/modules/models/downloads/hub.ts'
import { openPart, readPart } from '../../server/modules/models/downloads/part-file.ts'
import { checkRoom, checksum, NoRoom, transfer } from '../../server/modules/models/downloads/transfer.ts'
import { createTransferRate } from '../../server/modules/models/downloads/transfer-rate.ts'
import { listen } from '../support/listener.ts'
import { needsSmallDisk, noSmallDisk, smallDisk } from '../support/small-disk.ts'
import { cutAfter, hangAfter, startHub, status, type TestHub } from './hub-server.ts'
import { modelsFolder } from './llm-harness.ts'

const PATH = 'hearth/models/resolve/main/x.gguf'
const content = Buffer.concat([Buffer.from('GGUF'), Buffer.alloc(3_000_000, 'abcdefg')])
const never = new AbortController().signal

let server: TestHub
beforeAll(async () => {
  server = await startHub()
})
afterAll(() => server[Symbol.asyncDispose]())
beforeEach(() => {
  server.next.length = 0
  server.requests.length = 0
  server.files.set('hearth/models/x.gguf', content)
})

const fetchInto = (folder: { path: string; file(name: string): string }, more: Partial<Parameters<typeof transfer>[0]> = {}) =>
  transfer({
    hub: createHub(() => `${server.url}/`),
    path: PATH,
    folder: folder.path,
    partPath: folder.file('part'),
    totalBytes: null,
    sha256: null,
    idleMs: 30_000,
    signal: never,
    onBegin: async () => undefined,
    onBytes: () => undefined,
    ...more,
  })

describe('a transfer', () => {
  test('whose hub falls silent is broken off, and what came is kept', async () => {
    using folder = modelsFolder()
    server.next.push(hangAfter(1_000_000))
    await expect(fetchInto(folder, { idleMs: 3_000 })).rejects.toMatchObject({ kind: 'again', message: 'The hub fell silent.' })
    expect((await readPart(folder.file('part'))).bytes).toBe(1_000_000)
    expect(await fetchInto(folder)).toEqual({ resumed: true })
    expect(readFileSync(folder.file('part')).equals(content)).toBe(true)
  })

  test('that is stopped ends with the reason, and keeps what came', async () => {
    using folder = modelsFolder()
    server.next.push(hangAfter(1_000_000))
    const stop = new AbortController()
    const stopped = fetchInto(folder, { signal: stop.signal, onBytes: (done) => done === 1_000_000 && stop.abort(new Error('enough')) })
    await expect(stopped).rejects.toThrow('enough')
    expect((await readPart(folder.file('part'))).bytes).toBe(1_000_000)
  })

  test('trusts only the bytes that were on the disk for certain', async () => {
    using folder = modelsFolder()
    server.next.push(cutAfter(2_000_000))
    await expect(fetchInto(folder)).rejects.toMatchObject({ kind: 'again' })
    const { bytes } = await readPart(folder.file('part'))
    // as after a loss of power: rubbish behind what is marked
    truncateSync(folder.file('part'), bytes + 4096)
    await fetchInto(folder)
    expect(server.requests.at(-1)?.range).toBe(`bytes=${bytes}-`)
    expect(readFileSync(folder.file('part')).equals(content)).toBe(true)
    truncateSync(folder.file('part'), content.length - 1)
    expect((await readPart(folder.file('part'))).bytes, 'less than is marked').toBe(0)
  })

  test('with a torn mark begins anew', async () => {
    using folder = modelsFolder()
    writeFileSync(folder.file('part'), 'GGUFrubbish')
    writeFileSync(folder.file('part.json'), '{"bytes":')
    await fetchInto(folder)
    expect(readFileSync(folder.file('part')).equals(content)).toBe(true)
  })

  test('that is through already asks for nothing', async () => {
    using folder = modelsFolder()
    await fetchInto(folder)
    server.requests.length = 0
    expect(await fetchInto(folder, { totalBytes: content.length })).toEqual({ resumed: true })
    expect(server.requests).toEqual([])
  })

  test('marks its bytes before it has all of them', async () => {
    using folder = modelsFolder()
    const writer = await openPart(folder.file('part'), { bytes: 0, etag: '"x"', sha256: null })
    await writer.write(Buffer.alloc(17 * 1024 * 1024))
    expect(await readPart(folder.file('part'))).toEqual({ bytes: 17 * 1024 * 1024, etag: '"x"', sha256: null })
    await writer.close()
  })

  test('is whole though memory is tidied up before it begins', async () => {
    using folder = modelsFolder()
    setFlagsFromString('--expose-gc')
    const tidyUp = runInNewContext('gc') as () => void
    await fetchInto(folder, {
      async onBegin() {
        for (let times = 0; times < 5; times++) {
          tidyUp()
          await nextTurn()
        }
      },
    })
    expect(readFileSync(folder.file('part')).equals(content)).toBe(true)
  })

  test('is refused what storage elsewhere refuses only for now', async () => {
    using folder = modelsFolder()
    const other = await startHub()
    try {
      other.files.set('hearth/models/x.gguf', content)
      server.announce = () => ({ location: `${other.url}/storage/hearth/models/x.gguf` })
      other.next.push(status(403))
      await expect(fetchInto(folder)).rejects.toMatchObject({ kind: 'again' })
      await fetchInto(folder)
      expect(readFileSync(folder.file('part')).equals(content)).toBe(true)
    } finally {
      server.announce = () => ({})
      await other[Symbol.asyncDispose]()
    }
  })

  test.each([401, 403])('that needs a sign-in (%i) is not tried again', async (code) => {
    using folder = modelsFolder()
    server.next.push(status(code))
    await expect(fetchInto(folder)).rejects.toMatchObject({ kind: 'final', message: expect.stringMatching(/signed in/) })
    expect(existsSync(folder.file('part'))).toBe(false)
  })
})

test('a redirect may leave the host, never the encryption', () => {
  const from = new URL('https://hub.example/a/b')
  expect(nextAddress(from, '/c').href).toBe('https://hub.example/c')
  expect(nextAddress(from, 'https://storage.example/x?sig=1').href).toBe('https://storage.example/x?sig=1')
  expect(nextAddress(new URL('http://nas.local/a'), 'http://nas.local/b').href).toBe('http://nas.local/b')
  for (const bad of ['http://storage.example/x', 'file:///etc/passwd', 'ftp://x', 'https://', null])
    expect(() => nextAddress(from, bad), String(bad)).toThrow(/address/)
})

test('a checksum is right, and stops for who no longer wants it', async () => {
  using folder = modelsFolder()
  writeFileSync(folder.file('x'), 'abc')
  expect(await checksum(folder.file('x'), never)).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad')
  await expect(checksum(folder.file('x'), AbortSignal.abort(new Error('no')))).rejects.toThrow('no')
})

test('the rate is that of the last five seconds', () => {
  let now = 0
  const rate = createTransferRate(() => now)
  expect(rate.perSecond()).toBe(0)
  for (; now <= 10_000; now += 100) rate.add(now < 5_000 ? 100 : 1_000)
  expect(rate.perSecond()).toBeGreaterThan(9_500)
  expect(rate.perSecond()).toBeLessThan(10_500)
  now += 6_000
  expect(rate.perSecond()).toBe(0)
})

test.skipIf(noSmallDisk !== null)(`a disk that is too small is found out before anything is written${needsSmallDisk}`, async () => {
  using disk = smallDisk(8)
  await expect(checkRoom(disk.path, 1)).rejects.toBeInstanceOf(NoRoom)
  const folder = { path: disk.path, file: (name: string) => `${disk.path}/${name}` }
  await expect(fetchInto(folder)).rejects.toBeInstanceOf(NoRoom)
  expect(existsSync(folder.file('part')) && statSync(folder.file('part')).size > 0).toBe(false)
})

test('a hub tells size and checksum of a file before it is fetched', async () => {
  const hub = createHub(() => server.url)
  expect(await hub.look(PATH, never)).toEqual({ totalBytes: content.length, sha256: expect.stringMatching(/^[0-9a-f]{64}$/) })
  await expect(hub.look('hearth/models/resolve/main/none.gguf', never)).rejects.toMatchObject({ kind: 'absent' })
})

describe('a hub that sends elsewhere', () => {
  const OUTSIDE = '127.0.0.2'
  const reach = {
    isPublic: (address: string) => address === OUTSIDE,
    lookup: ((_host, _options, then) => then(null, [{ address: OUTSIDE, family: 4 }])) as Lookup,
  }

  test('sends nobody into the home network from the internet, for a file nor for its size', async () => {
    await using inside = await listen((_req, res) => void res.end('GGUF of the router'))
    await using hub = await listen((_req, res) => void res.writeHead(302, { location: `${inside.url}/reboot` }).end(), OUTSIDE)
    for (const url of [hub.url, hub.url.replace(OUTSIDE, 'hub.test')]) {
      using folder = modelsFolder()
      const outside = createHub(() => url, reach)
      await expect(outside.look(PATH, never)).rejects.toMatchObject({ kind: 'final', message: expect.stringMatching(/home network/) })
      await expect(fetchInto(folder, { hub: outside })).rejects.toMatchObject({
        kind: 'final',
        message: expect.stringMatching(/home network/),
      })
      expect(existsSync(folder.file('part'))).toBe(false)
    }
    expect(inside.hits).toEqual([])
  })

  test('sends to the internet, or within the home where it lies there itself', async () => {
    await using storage = await listen((_req, res) => void res.end(content), OUTSIDE)
    await using nas = await listen((_req, res) => void res.end(content))
    for (const [from, to] of [
      [OUTSIDE, storage],
      ['127.0.0.1', storage],
      ['127.0.0.1', nas],
    ] as const) {
      using folder = modelsFolder()
      await using hub = await listen((_req, res) => void res.writeHead(302, { location: `${to.url}/x` }).end(), from)
      await fetchInto(folder, { hub: createHub(() => hub.url, reach) })
      expect(readFileSync(folder.file('part')).equals(content)).toBe(true)
    }
  })
})
