import { readFile } from 'node:fs/promises'
import { z } from 'zod'
import { ModelKind } from './models.contract.ts'

const Entry = z.strictObject({
  id: z.string().regex(/^[\w.-]+$/),
  name: z.string(),
  kind: ModelKind,
  description: z.string(),
  /** On the hub. */
  repo: z.string().regex(/^[\w.-]+\/[\w.-]+$/),
  file: z.string().regex(/^[\w.-]+\.gguf$/i),
  /** About; the hub tells the true size, and the checksum: files of a hub are replaced by better ones. */
  sizeBytes: z.int().positive(),
  contextBytesPerToken: z.int().positive(),
  contextTokens: z.int().positive(),
  licence: z.string(),
})
export type CatalogueEntry = z.output<typeof Entry>

/** The models that Hearth knows of, in each kind from the plainest to the best. Throws where the file is not as it must be. */
export async function readCatalogue(path: string): Promise<CatalogueEntry[]> {
  return z.array(Entry).parse(JSON.parse(await readFile(path, 'utf8')))
}

/** Where a file of the hub is fetched from, under its address. */
export const hubPath = (repo: string, file: string): string => `${repo}/resolve/main/${file}`
