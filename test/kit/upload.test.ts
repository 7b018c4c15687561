import { existsSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs'
import { createServer, request, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Koa from 'koa'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { z } from 'zod'
import { createClient } from '../../server/kit/client.ts'
import { endpoint } from '../../server/kit/endpoint.ts'
import { AppError } from '../../server/kit/errors.ts'
import { createHttp } from '../../server/kit/http.ts'
import { createLog } from '../../server/kit/log.ts'
import { createRateLimit } from '../../server/kit/rate-limit.ts'
import { createFactsReader } from '../../server/kit/request-facts.ts'
import { routes, type UploadedFile } from '../../server/kit/routes.ts'

const contract = {
  upload: endpoint({
    method: 'POST',
    path: '/api/album/{id}',
    access: 'public',
    summary: 'Add pictures to an album',
    params: z.object({ id: z.string().max(10) }),
    body: z.strictObject({ caption: z.string().max(20).optional() }),
    returns: z.object({
      caption: z.string().nullable(),
      files: z.array(z.object({ field: z.string(), name: z.string(), mimeType: z.string(), size: z.number(), text: z.string() })),
    }),
    kind: 'upload',
    status: 201,
  }),
}

let folder: string
let uploadsPath: string
let server: Server
let url: string
let received: UploadedFile[][]
/** What the handler does with the files before it answers. */
let handle: (files: UploadedFile[]) => void
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'hearth-upload-'))
  uploadsPath = join(folder, 'tmp')
  received = []
  handle = () => undefined
  const unlimited = createRateLimit(Number.POSITIVE_INFINITY, 1)
  const koa = Object.assign(new Koa(), { silent: true })
  koa.use(
    createHttp({
      routes: [
        routes(contract, {
          upload({ body, files }) {
            received.push(files)
            const described = files.map(({ path, ...file }) => ({ ...file, text: readFileSync(path, 'utf8').slice(0, 100) }))
            handle(files)
            return { caption: body.caption ?? null, files: described }
          },
        }),
      ],
      authenticate: () => null,
      readFacts: createFactsReader([]),
      ownHosts: { has: () => true },
      isSetUp: () => true,
      publicUrl: () => null,
      limits: {
        general: unlimited,
        'sign-in': unlimited,
        pairing: unlimited,
        'pair-request': unlimited,
        refresh: unlimited,
        webhook: unlimited,
      },
      translate: (error) => error,
      uploadsPath,
      log: createLog('silent'),
    }),
  )
  const callback = koa.callback()
  server = createServer((req, res) => void callback(req, res))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterEach(async () => {
  const closed = new Promise((resolve) => server.close(resolve))
  server.closeAllConnections()
  await closed
  rmSync(folder, { recursive: true, force: true })
})

const client = () => createClient({ album: contract }, (path, init) => fetch(url + path, init)).album
const temporary = () => (existsSync(uploadsPath) ? readdirSync(uploadsPath, { recursive: true, encoding: 'utf8' }) : [])

function form(...parts: [field: string, value: string | File][]): FormData {
  const made = new FormData()
  for (const [field, value] of parts) made.append(field, value)
  return made
}
const text = (content: string, name: string) => new File([content], name, { type: 'text/plain' })

test('files come to the handler on the disk, with their fields, and are gone after it', async () => {
  const answer = await client().upload({
    params: { id: 'a1' },
    body: undefined as never,
    form: form(
      ['caption', 'Summer'],
      ['one', text('first', 'a.txt')],
      ['two', text('', 'empty.txt')],
      ['one', text('third 🏠', 'ü ö.txt')],
    ),
  })
  expect(answer.caption).toBe('Summer')
  expect(answer.files.sort((a, b) => a.name.localeCompare(b.name))).toEqual([
    { field: 'one', name: 'a.txt', mimeType: 'text/plain', size: 5, text: 'first' },
    { field: 'two', name: 'empty.txt', mimeType: 'text/plain', size: 0, text: '' },
    { field: 'one', name: 'ü ö.txt', mimeType: 'text/plain', size: 10, text: 'third 🏠' },
  ])
  expect(received[0]?.every(({ path }) => path.startsWith(uploadsPath))).toBe(true)
  await expect.poll(temporary).toEqual([])
})

test('a file that the handler moved stays where it was put', async () => {
  const album = join(folder, 'kept.txt')
  handle = ([file]) => renameSync(file?.path ?? '', album)
  await client().upload({
    params: { id: 'a1' },
    body: undefined as never,
    form: form(['one', text('kept', 'a.txt')], ['two', text('not', 'b.txt')]),
  })
  expect(readFileSync(album, 'utf8')).toBe('kept')
  await expect.poll(temporary).toEqual([])
})

test('a handler that fails, and fields that are not valid, leave nothing behind', async () => {
  handle = () => {
    throw new AppError(409, 'conflict', 'No.')
  }
  await expect(
    client().upload({ params: { id: 'a1' }, body: undefined as never, form: form(['one', text('x', 'a.txt')]) }),
  ).rejects.toMatchObject({ status: 409 })
  handle = () => {
    throw new Error('a bug')
  }
  await expect(
    client().upload({ params: { id: 'a1' }, body: undefined as never, form: form(['one', text('x', 'a.txt')]) }),
  ).rejects.toMatchObject({ status: 500, code: 'internal' })
  const wrong = form(['one', text('x', 'a.txt')], ['colour', 'red'])
  await expect(client().upload({ params: { id: 'a1' }, body: undefined as never, form: wrong })).rejects.toMatchObject({
    status: 400,
    code: 'validation_failed',
  })
  const long = form(['caption', 'x'.repeat(21)], ['one', text('x', 'a.txt')])
  await expect(client().upload({ params: { id: 'a1' }, body: undefined as never, form: long })).rejects.toMatchObject({
    status: 400,
    details: [{ path: 'body.caption' }],
  })
  await expect(
    client().upload({ params: { id: 'much too long' }, body: undefined as never, form: form(['one', text('x', 'a.txt')]) }),
  ).rejects.toMatchObject({ status: 400 })
  await expect.poll(temporary).toEqual([])
})

test.each(['../../evil.txt', '/etc/passwd', '..\\..\\evil.txt', 'C:\\evil.txt', '.', 'a\0b'])(
  'a file named %j lands in the folder for uploads under a name of ours',
  async (name) => {
    await client().upload({ params: { id: 'a1' }, body: undefined as never, form: form(['one', text('x', name)]) })
    expect(received[0]?.[0]?.path).toMatch(new RegExp(`^${uploadsPath}/[\\w-]+/[\\w-]+$`))
    expect(readdirSync(folder)).toEqual(['tmp'])
  },
)

/** A raw request; answers status and code. */
async function post(type: string | null, body: string): Promise<[number, string]> {
  const answer = await fetch(`${url}/api/album/a1`, {
    method: 'POST',
    body: new TextEncoder().encode(body),
    headers: type === null ? {} : { 'content-type': type },
  })
  return [answer.status, ((await answer.json()) as { code: string }).code]
}
const part = (head: string, content: string) => `--b\r\ncontent-disposition: form-data; ${head}\r\n\r\n${content}\r\n`

test('a file whose sender does not say its type is a file all the same', async () => {
  const body = `${part('name="one"; filename="a.bin"', 'content')}--b--\r\n`
  const answer = await fetch(`${url}/api/album/a1`, {
    method: 'POST',
    body,
    headers: { 'content-type': 'multipart/form-data; boundary=b' },
  })
  expect(await answer.json()).toEqual({
    caption: null,
    files: [{ field: 'one', name: 'a.bin', mimeType: 'application/octet-stream', size: 7, text: 'content' }],
  })
})

test('what is no form is refused with 415, what is a broken one with 400', async () => {
  expect(await post('application/json', '{}')).toEqual([415, 'unsupported_media_type'])
  expect(await post(null, 'x')).toEqual([415, 'unsupported_media_type'])
  expect(await post('multipart/form-data', part('name="a"', 'x'))).toEqual([415, 'unsupported_media_type'])
  expect(await post('multipart/form-data; boundary=b', 'nonsense')).toEqual([400, 'validation_failed'])
  expect(await post('multipart/form-data; boundary=b', part('name="one"; filename="a.txt"', 'cut off'))).toEqual([400, 'validation_failed'])
  await expect.poll(temporary).toEqual([])
})

test('too much text, too many fields and too many files are refused with 413', async () => {
  const end = '--b--\r\n'
  expect(await post('multipart/form-data; boundary=b', part('name="caption"', 'x'.repeat(1_100_000)) + end)).toEqual([413, 'too_large'])
  const fields = Array.from({ length: 101 }, (_, at) => part(`name="f${at}"`, 'x')).join('')
  expect(await post('multipart/form-data; boundary=b', fields + end)).toEqual([413, 'too_large'])
  const files = Array.from({ length: 501 }, (_, at) => part(`name="f${at}"; filename="f${at}"\r\ncontent-type: text/plain`, 'x')).join('')
  expect(await post('multipart/form-data; boundary=b', files + end)).toEqual([413, 'too_large'])
  expect(received).toEqual([])
  await expect.poll(temporary).toEqual([])
})

test('a file is written while it arrives, and removed when its sender goes away', async () => {
  const sending = request(`${url}/api/album/a1`, {
    method: 'POST',
    headers: { 'content-type': 'multipart/form-data; boundary=b', 'content-length': 50_000_000 },
  })
  sending.on('error', () => undefined)
  sending.write(`--b\r\ncontent-disposition: form-data; name="one"; filename="big"\r\n\r\n`)
  for (let megabytes = 0; megabytes < 8; megabytes++) sending.write(Buffer.alloc(1024 * 1024, 'x'))
  const onDisk = () => temporary().reduce((sum, name) => sum + statSync(join(uploadsPath, name)).size, 0)
  await expect.poll(onDisk, { timeout: 10_000 }).toBeGreaterThan(7_000_000)
  sending.destroy()
  await expect.poll(temporary, { timeout: 10_000 }).toEqual([])
  expect(received).toEqual([])
})
