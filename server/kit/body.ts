import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Context, Middleware } from 'koa'
import { AppError, invalid, unsupportedType } from './errors.ts'
import type { UploadedFile } from './routes.ts'

const MAX_JSON_BYTES = 1024 * 1024
const MAX_UPLOAD_BYTES = 10 * 1024 ** 3
/** A JSON body that takes longer is a client that holds on to the connection. */
const MAX_JSON_MS = 30_000

const nothingMore = async () => undefined
/** Loaded at the first body: it takes as long as a tenth of the whole start. */
let loading: Promise<typeof import('koa-body')> | undefined
const loadKoaBody = () => {
  loading ??= import('koa-body')
  return loading
}
let parseJson: Middleware | undefined

const hasBody = ({ headers }: Context) => headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0

/** koa-body's failures in our words; what it throws carries a `status`, formidable's an `httpCode`, zlib's only an `errno`. */
function refusal(error: unknown): unknown {
  const { status, httpCode, errno } = error as { status?: number; httpCode?: number; errno?: number }
  const code = httpCode ?? status
  if (code === 413) return new AppError(413, 'too_large', 'This is too large.', { headers: { connection: 'close' } })
  if (code === 415) return unsupportedType('a body in an encoding this server knows')
  if (code === 400 || error instanceof SyntaxError || (code === undefined && errno !== undefined))
    return invalid([{ path: 'body', message: 'cannot be read' }])
  return error
}

/** The JSON value of a request, or undefined where it has no body. Throws 400, 413 or 415. */
export async function readJson(ctx: Context): Promise<unknown> {
  if (!hasBody(ctx)) return undefined
  const type = ctx.headers['content-type'] ?? ''
  if (!/^application\/json\s*(;|$)/i.test(type) || !/^(utf-?8)?$/i.test(/charset="?([^";\s]*)/i.exec(type)?.[1] ?? '')) {
    throw unsupportedType('JSON in UTF-8 with Content-Type: application/json')
  }
  const tooSlow = setTimeout(() => ctx.req.destroy(), MAX_JSON_MS)
  try {
    parseJson ??= (await loadKoaBody()).koaBody({ jsonLimit: MAX_JSON_BYTES, json: true, text: false, urlencoded: false, multipart: false })
    await parseJson(ctx, nothingMore)
  } catch (error) {
    throw refusal(error)
  } finally {
    clearTimeout(tooSlow)
  }
  return ctx.request.body
}

export interface Upload {
  fields: unknown
  files: UploadedFile[]
  /** Removes what the handler left behind. */
  clear(): Promise<void>
}

/** Streams a multipart request to files in a folder of its own under `dir`; never holds a file in memory. Throws 400, 413 or 415. */
export async function readUpload(ctx: Context, dir: string): Promise<Upload> {
  if (!/^multipart\/form-data\s*;/i.test(ctx.headers['content-type'] ?? ''))
    throw unsupportedType('a form with Content-Type: multipart/form-data')
  await mkdir(dir, { recursive: true })
  const folder = await mkdtemp(join(dir, 'upload-'))
  // The parser may still be opening a file when it gives up; with its folder gone it cannot.
  const clear = () => rm(folder, { recursive: true, force: true, maxRetries: 3 })
  const { koaBody } = await loadKoaBody()
  const parse = koaBody({
    multipart: true,
    json: false,
    text: false,
    urlencoded: false,
    formidable: {
      uploadDir: folder,
      maxFileSize: MAX_UPLOAD_BYTES,
      maxTotalFileSize: MAX_UPLOAD_BYTES,
      maxFields: 100,
      maxFieldsSize: MAX_JSON_BYTES,
      maxFiles: 500,
      allowEmptyFiles: true,
      minFileSize: 0,
      onPart(part, handle) {
        // formidable takes a file whose sender does not say its type for a text field
        if (part.originalFilename !== null && part.mimetype === null) part.mimetype = 'application/octet-stream'
        handle(part)
      },
    },
  })
  try {
    await parse(ctx, nothingMore)
  } catch (error) {
    await clear()
    throw refusal(error)
  }
  const files = Object.entries(ctx.request.files ?? {}).flatMap(([field, value]) =>
    [value].flat().map((file) => ({
      field,
      path: file.filepath,
      name: file.originalFilename ?? 'file',
      mimeType: file.mimetype ?? 'application/octet-stream',
      size: file.size,
    })),
  )
  return { fields: ctx.request.body, files, clear }
}
