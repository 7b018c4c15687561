import { createHash } from 'node:crypto'
import { createReadStream, readFileSync } from 'node:fs'
import { readdir, rm } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { z } from 'zod'

/** What stands beside a saved graph: what it was made of, and how its bytes are told from others. */
export const GraphNote = z.object({
  model: z.string(),
  owner: z.string().nullable(),
  dimensions: z.number().int().positive(),
  count: z.number().int().nonnegative(),
  file: z.string().regex(/^[\w-]+\.hnsw$/),
  sha256: z.string(),
})
export type GraphNote = z.output<typeof GraphNote>

/** The same for the same model and owner, and fit to be the beginning of a file's name. */
export const graphKey = (model: string, owner: string | null): string =>
  createHash('sha256')
    .update(JSON.stringify([model, owner]))
    .digest('hex')
    .slice(0, 16)

export const notePath = (folder: string, key: string): string => join(folder, `${key}.json`)

/** The note of a saved graph, or null where there is none that can be read. */
export function readNote(folder: string, key: string): GraphNote | null {
  try {
    return GraphNote.parse(JSON.parse(readFileSync(notePath(folder, key), 'utf8')))
  } catch {
    return null
  }
}

/** The digest of a file, without holding it in memory. */
export async function digestOf(path: string): Promise<string> {
  const hash = createHash('sha256')
  await pipeline(createReadStream(path, { highWaterMark: 1024 * 1024 }), hash)
  return hash.digest('hex')
}

/** Removes the files that belong to none of these keys, and those that a crash left half written. */
export async function removeOthers(folder: string, keys: ReadonlySet<string>): Promise<void> {
  const names = await readdir(folder).catch(() => [])
  for (const name of names) {
    const key = name.slice(0, 16)
    const isKept = keys.has(key) && (name === basename(notePath(folder, key)) || name === readNote(folder, key)?.file)
    if (!isKept) await rm(join(folder, name), { force: true, recursive: true })
  }
}
