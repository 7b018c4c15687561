import { createHash, randomUUID } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type ModelDownload, modelDownloaded } from '../../server/modules/models/models.contract.ts'
import { type Browser, type House, startHouse } from '../support/house.ts'
import { writeScriptedGguf } from '../support/scripted-gguf.ts'
import { cutAfter, etagOf, hangAfter, serve, startHub, status, type TestHub } from './hub-server.ts'
import { modelsFolder, until } from './llm-harness.ts'

let hub: TestHub
let house: House
let ada: Browser
let content: Buffer

beforeAll(async () => {
  hub = await startHub()
  house = await startHouse({ env: { SERVICE_MODEL_HUB_URL: hub.url } })
  ada = await house.owner()
  // it embeds, so that nothing loads it while it is only moved about
  using folder = modelsFolder()
  writeScriptedGguf(folder.file('made.gguf'), { embeds: true })
  content = readFileSync(folder.file('made.gguf'))
})
afterAll(async () => {
  await house[Symbol.asyncDispose]()
  await hub[Symbol.asyncDispose]()
})

const REPO = 'hearth/models'
let file: string
let name: string
const modelsPath = (...parts: string[]) => join(house.dataPath, 'models', ...parts)
const target = () => modelsPath(file)
const parts = () => (existsSync(modelsPath('.part')) ? readdirSync(modelsPath('.part')) : [])

beforeEach(() => {
  name = `m-${randomUUID().slice(0, 8)}`
  file = `${name}.gguf`
  hub.files.set(`${REPO}/${file}`, content)
})
const announce = (bytes: Buffer) => ({
  'x-linked-etag': `"${createHash('sha256').update(bytes).digest('hex')}"`,
  'x-linked-size': String(bytes.length),
})
afterEach(async () => {
  hub.announce = announce
  hub.next.length = 0
  hub.requests.length = 0
  for (const { id } of (await ada.api.models.overview()).downloads) await ada.api.models.cancelDownload({ params: { id } })
  rmSync(target(), { force: true })
})

const begin = (more: { sha256?: string } = {}) => ada.api.models.download({ body: { repo: REPO, file, ...more } })
const get = async (id: string): Promise<ModelDownload> => {
  const found = (await ada.api.models.overview()).downloads.find((one) => one.id === id)
  if (!found) throw new Error('no such download')
  return found
}
const reaches = async (id: string, ...wanted: ModelDownload['status'][]) => {
  await until(async () => wanted.includes((await get(id)).status))
  return get(id)
}
const contentRequests = () => hub.requests.filter(({ method, url }) => method === 'GET' && url.startsWith('/storage/'))

describe('a download', () => {
  test('arrives whole, is checked, and becomes a model; no credential goes anywhere', async () => {
    const { id } = await begin()
    expect(await reaches(id, 'done', 'failed')).toMatchObject({ name, doneBytes: content.length, totalBytes: content.length, error: null })
    expect(readFileSync(target()).equals(content)).toBe(true)
    expect(parts()).toEqual([])
    expect((await ada.api.models.overview()).installed.map((one) => one.name)).toContain(name)
    expect(hub.requests.every(({ authorization }) => authorization === undefined)).toBe(true)
    await expect(begin()).rejects.toMatchObject({ status: 409, code: 'model_exists' })
  })

  test('that is cut off goes on where it was, told by its etag', async () => {
    hub.next.push(cutAfter(1_000_000))
    const { id } = await begin()
    await reaches(id, 'done')
    expect(readFileSync(target()).equals(content)).toBe(true)
    const [first, second, third] = contentRequests()
    expect([first?.range, first?.ifRange, third]).toEqual([undefined, undefined, undefined])
    expect(Number(/^bytes=(\d+)-$/.exec(second?.range ?? '')?.[1])).toBeGreaterThan(500_000)
    expect(second?.ifRange).toBe(etagOf(content))
  })

  test('from a hub that knows no ranges begins anew and is right all the same', async () => {
    hub.next.push(cutAfter(500_000), (req, res, bytes) => {
      delete req.headers.range
      serve(req, res, bytes)
    })
    const { id } = await begin()
    await reaches(id, 'done')
    expect(readFileSync(target()).equals(content)).toBe(true)
  })

  test('whose part is of no use any more begins anew', async () => {
    hub.next.push(cutAfter(500_000), status(416))
    const { id } = await begin()
    await reaches(id, 'done')
    expect(readFileSync(target()).equals(content)).toBe(true)
    expect(contentRequests().at(-1)?.range).toBeUndefined()
  })

  test('of a file that changes meanwhile is the new one, never a mixture', async () => {
    hub.next.push(cutAfter(800_000))
    const { id } = await begin()
    await until(async () => (await get(id)).error !== null)
    const other = Buffer.concat([content, Buffer.alloc(64)])
    hub.files.set(`${REPO}/${file}`, other)
    await reaches(id, 'done')
    expect(readFileSync(target()).equals(other)).toBe(true)
  })

  test('is tried again while the hub is out of order', async () => {
    hub.next.push(status(500), status(503))
    const { id } = await begin()
    await until(async () => /out of order \(50[03]\)/.test((await get(id)).error ?? ''))
    expect(await reaches(id, 'done')).toMatchObject({ error: null })
  })

  test('waits for a hub that is down, and says so', async () => {
    await hub.down()
    const { id } = await begin()
    await until(async () => (await get(id)).error === 'The hub cannot be reached.').finally(hub.up)
    expect((await get(id)).status).toBe('running')
    await reaches(id, 'done')
  })
})

describe('what is not the file', () => {
  test.each<[string, () => void, RegExp]>([
    [
      'a web page',
      () => hub.next.push((_req, res) => res.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end('<html>')),
      /web page/,
    ],
    ['a picture', () => hub.files.set(`${REPO}/${file}`, Buffer.alloc(5000, 0xff)), /not a GGUF/],
    ['a file that ends too soon', () => hub.files.set(`${REPO}/${file}`, content.subarray(0, 2000)), /damaged or incomplete/],
    ['a refusal', () => hub.next.push(status(418)), /refused/],
  ])('%s is refused with the reason, and nothing appears among the models', async (_what, prepare, reason) => {
    prepare()
    // the storage is this very host, so that its refusals count
    const { id } = await begin()
    const failed = await reaches(id, 'failed', 'done')
    expect(failed.status).toBe('failed')
    expect(failed.error).toMatch(reason)
    expect(existsSync(target())).toBe(false)
  })

  test('another content than was announced is refused, also where it was asked for by checksum', async () => {
    hub.announce = () => ({ 'x-linked-etag': `"${'0'.repeat(64)}"`, 'x-linked-size': String(content.length) })
    const first = await reaches((await begin()).id, 'failed', 'done')
    expect(first.error).toMatch(/checksum/)
    expect(existsSync(target())).toBe(false)
    // the hub has come to its senses
    hub.announce = announce
    await ada.api.models.resumeDownload({ params: { id: first.id } })
    await reaches(first.id, 'done')
    rmSync(target())
    const asked = await begin({ sha256: 'f'.repeat(64) })
    expect((await reaches(asked.id, 'failed', 'done')).error).toMatch(/checksum/)
    await ada.api.models.resumeDownload({ params: { id: asked.id } })
    expect((await reaches(asked.id, 'failed', 'done')).error, 'it is not forgotten').toMatch(/checksum/)
  })

  test('the checksum is taken from the list of files where the file has none', async () => {
    hub.announce = () => ({})
    hub.next.push((_req, res, bytes) => {
      const wrong = Buffer.from(bytes)
      wrong[bytes.length - 1] = 1
      res.writeHead(200, { 'content-length': wrong.length }).end(wrong)
    })
    expect((await reaches((await begin()).id, 'failed', 'done')).error).toMatch(/checksum/)
    expect(hub.requests.some(({ url }) => url.startsWith('/api/models/'))).toBe(true)
  })

  test('a length that differs from the one announced is tried again, and never kept', async () => {
    hub.announce = (bytes) => ({ 'x-linked-size': String(bytes.length + 1) })
    const { id } = await begin()
    await until(async () => /another length/.test((await get(id)).error ?? ''))
    expect(existsSync(target())).toBe(false)
    hub.announce = announce
    await reaches(id, 'done')
  })

  test('a file that the hub does not have is said at once', async () => {
    const answer = ada.api.models.download({ body: { repo: REPO, file: 'nothing.gguf' } })
    await expect(answer).rejects.toMatchObject({ status: 404, code: 'not_found' })
    await expect(ada.api.models.download({ body: { id: 'nothing' } })).rejects.toMatchObject({ status: 404 })
    expect((await ada.api.models.overview()).downloads).toEqual([])
  })

  test('redirects without end are given up', async () => {
    hub.files.set(`${REPO}/${file}`, content)
    hub.announce = () => ({ location: `/${REPO}/resolve/main/${file}` })
    await expect(begin()).rejects.toMatchObject({ status: 502, code: 'upstream_failed' })
  })

  test.each(['../evil.gguf', 'a/b.gguf', 'x.bin', '.gguf/..'])('a file called %j cannot be asked for', async (asked) => {
    await expect(ada.api.models.download({ body: { repo: REPO, file: asked } })).rejects.toMatchObject({ status: 400 })
  })

  test('one of several parts, and an eye without a model, are not fetched', async () => {
    for (const asked of ['big-00001-of-00003.gguf', 'mmproj-big.gguf'])
      await expect(ada.api.models.download({ body: { repo: REPO, file: asked } })).rejects.toMatchObject({
        status: 422,
        code: 'not_a_model',
      })
  })
})

describe('room', () => {
  test('for a file larger than the disk is refused before it starts', async () => {
    hub.announce = () => ({ 'x-linked-size': '199000000000', 'x-linked-etag': `"${'0'.repeat(64)}"` })
    await expect(begin()).rejects.toMatchObject({ status: 507, code: 'disk_full' })
    expect((await ada.api.models.overview()).downloads).toEqual([])
  })

  test('for more than 200 GB is never made', async () => {
    hub.announce = () => ({ 'x-linked-size': '200000000001' })
    await expect(begin()).rejects.toMatchObject({ status: 413, code: 'too_large' })
  })
})

describe('the owner', () => {
  test('pauses, sees what came so far, and goes on from there', async () => {
    hub.next.push(hangAfter(1_500_000))
    const { id } = await begin()
    await until(async () => (await get(id)).doneBytes === 1_500_000)
    expect(await ada.api.models.pauseDownload({ params: { id } })).toMatchObject({
      status: 'paused',
      doneBytes: 1_500_000,
      bytesPerSecond: 0,
    })
    expect(statSync(modelsPath('.part', id)).size).toBe(1_500_000)
    await ada.api.models.resumeDownload({ params: { id } })
    await reaches(id, 'done')
    expect(contentRequests().at(-1)?.range).toBe('bytes=1500000-')
    expect(readFileSync(target()).equals(content)).toBe(true)
    await expect(ada.api.models.pauseDownload({ params: { id } })).rejects.toMatchObject({ status: 409 })
  })

  test('cancels, and nothing is left', async () => {
    hub.next.push(hangAfter(1_000_000))
    const { id } = await begin()
    await until(async () => (await get(id)).doneBytes === 1_000_000)
    await ada.api.models.cancelDownload({ params: { id } })
    expect((await ada.api.models.overview()).downloads).toEqual([])
    expect(parts()).toEqual([])
    await expect(ada.api.models.cancelDownload({ params: { id } })).rejects.toMatchObject({ status: 404 })
  })

  test('who asks twice gets the one that is on its way', async () => {
    hub.next.push(hangAfter(1_000_000))
    const [first, second] = await Promise.all([begin(), begin()])
    expect(second.id).toBe(first.id)
    await until(async () => (await get(first.id)).doneBytes === 1_000_000)
    await ada.api.models.pauseDownload({ params: { id: first.id } })
    expect((await begin()).id, 'a paused one goes on').toBe(first.id)
    await reaches(first.id, 'done')
  })

  test('who asks for two has them one after the other', async () => {
    hub.next.push(hangAfter(1_000_000))
    const first = await begin()
    hub.files.set(`${REPO}/second-${file}`, content)
    const second = await ada.api.models.download({ body: { repo: REPO, file: `second-${file}` } })
    await until(async () => (await get(first.id)).doneBytes === 1_000_000)
    expect((await get(second.id)).status).toBe('waiting')
    await ada.api.models.pauseDownload({ params: { id: first.id } })
    await reaches(second.id, 'done')
    rmSync(modelsPath(`second-${file}`))
  })

  test('clears a finished one from the list, and the model stays', async () => {
    const { id } = await begin()
    await reaches(id, 'done')
    await ada.api.models.cancelDownload({ params: { id } })
    expect((await ada.api.models.overview()).downloads).toEqual([])
    expect(existsSync(target())).toBe(true)
  })

  test('hears of it as it goes, by an event that reaches those who subscribed', async () => {
    const heard: ModelDownload[] = []
    const silence = house.app.events.on(modelDownloaded, (download) => void heard.push(download))
    const { id } = await begin()
    await reaches(id, 'done')
    await until(() => heard.at(-1)?.status === 'done')
    silence()
    expect([...new Set(heard.filter((one) => one.id === id).map((one) => one.status))]).toEqual(['waiting', 'running', 'checking', 'done'])
  })

  test('is the only one who may', async () => {
    const phone = await house.pair('phone', 'admin')
    await expect(phone.api.models.overview()).rejects.toMatchObject({ status: 403 })
    await expect(phone.api.models.download({ body: { repo: REPO, file } })).rejects.toMatchObject({ status: 403 })
  })
})

describe('a restart', () => {
  test('goes on with what was on its way, leaves paused what was paused, and tidies up', async () => {
    hub.next.push(hangAfter(1_200_000))
    const { id } = await begin()
    await until(async () => (await get(id)).doneBytes === 1_200_000)
    mkdirSync(modelsPath('.part'), { recursive: true })
    writeFileSync(modelsPath('.part', 'left-over'), 'x')
    await house.restart()
    ada = await house.owner()
    await reaches(id, 'done')
    expect(contentRequests().at(-1)?.range).toBe('bytes=1200000-')
    expect(readFileSync(target()).equals(content)).toBe(true)
    expect(parts()).toEqual([])
  })
})
