import { readdir, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import type { ModelKind } from '../models.contract.ts'
import { GgufFault, type GgufHeader, readGgufHeader } from './gguf-header.ts'
import { explainLoadFault } from './load-faults.ts'
import type { ModelFile, ModelFiles } from './model-files.ts'
import { modelKind } from './model-kind.ts'

/** A model file with what its header says. */
export interface ShelvedModel {
  file: ModelFile
  kind: ModelKind
  /** Of all its parts together. */
  sizeBytes: number
  /** Null where the file is not a whole GGUF model; `fault` says why. */
  header: GgufHeader | null
  fault: string | null
}

export interface ModelShelf {
  /** Those of the models folder, by name. */
  list(): Promise<ShelvedModel[]>
  /** By name under the folder, or by path; undefined where there is none. */
  find(choice: string): Promise<ShelvedModel | undefined>
  /** The files that can speak, as the language model takes them: one that cannot be read only where there is no other. */
  speakers: ModelFiles
}

type Read = Pick<ShelvedModel, 'kind' | 'header' | 'fault' | 'sizeBytes'>

/** Paths of all the files a model consists of, given its first. */
export async function partsOf(path: string): Promise<string[]> {
  const several = /^(.*)-00001-of-(\d{5})\.gguf$/i.exec(basename(path))
  if (!several) return [path]
  const entries = await readdir(dirname(path))
  const own = (entry: string) => entry.startsWith(`${several[1]}-`) && entry.toLowerCase().endsWith(`-of-${several[2]}.gguf`)
  return entries.filter(own).map((entry) => join(dirname(path), entry))
}

async function bytesOf(path: string): Promise<number> {
  const sizes = await Promise.all((await partsOf(path)).map((part) => stat(part)))
  return sizes.reduce((sum, { size }) => sum + size, 0)
}

async function read(path: string): Promise<Read> {
  try {
    const sizeBytes = await bytesOf(path)
    try {
      const header = await readGgufHeader(path)
      return { kind: modelKind(header), header, fault: null, sizeBytes }
    } catch (error) {
      const fault = error instanceof GgufFault ? error.message : explainLoadFault(String(error))
      return { kind: 'chat', header: null, fault, sizeBytes }
    }
  } catch (error) {
    return { kind: 'chat', header: null, fault: explainLoadFault(String(error)), sizeBytes: 0 }
  }
}

/** Reads each header once, and again when its file has changed. */
export function createModelShelf(files: ModelFiles): ModelShelf {
  const known = new Map<string, { version: string; read: Promise<Read> }>()

  const shelved = async (file: ModelFile): Promise<ShelvedModel> => {
    const before = known.get(file.path)
    const entry = before?.version === file.version ? before : { version: file.version, read: read(file.path) }
    known.set(file.path, entry)
    return { file, ...(await entry.read) }
  }

  const list = async () => {
    const found = await files.list()
    const paths = new Set(found.map(({ path }) => path))
    for (const path of known.keys()) if (!paths.has(path)) known.delete(path)
    return Promise.all(found.map(shelved))
  }

  return {
    list,
    async find(choice) {
      const file = await files.find(choice)
      return file && shelved(file)
    },
    speakers: {
      async list() {
        const chat = (await list()).filter(({ kind }) => kind === 'chat')
        const sound = chat.filter(({ fault }) => fault === null)
        return sound.length > 0 ? sound.map(({ file }) => file) : chat.map(({ file }) => ({ ...file, isBroken: true }))
      },
      find: files.find,
    },
  }
}
