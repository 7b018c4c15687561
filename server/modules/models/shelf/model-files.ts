import { readdir, realpath, stat } from 'node:fs/promises'
import { basename, isAbsolute, join, sep } from 'node:path'

/** A GGUF file that can be loaded. */
export interface ModelFile {
  /** The file's name without `.gguf`. */
  name: string
  path: string
  /** Changes when the file does. */
  version: string
  /** When it was written, in milliseconds. */
  writtenAt?: number
  /** Known to be no model that can be loaded. */
  isBroken?: boolean
}

export interface ModelFiles {
  /** Those of the models folder, by name; none where there is no folder. */
  list(): Promise<ModelFile[]>
  /** By name under the models folder or by path; undefined where there is no such file, or a name leads out of the folder. */
  find(choice: string): Promise<ModelFile | undefined>
}

const ENDING = /\.gguf$/i
/** Files of a model in several parts; the first one loads the others. */
const LATER_PART = /-(?!00001-)\d{5}-of-\d{5}\.gguf$/i
/** Vision encoders, which lie beside their model and cannot speak. */
const NO_SPEAKER = /^mmproj[-.]/i

const isAbsence = (error: unknown) =>
  ['ENOENT', 'ENOTDIR', 'ENAMETOOLONG', 'ELOOP', 'EACCES'].includes((error as NodeJS.ErrnoException).code ?? '')

async function fileAt(path: string, within?: string): Promise<ModelFile | undefined> {
  if (path.includes('\0')) return undefined
  try {
    if (within && !(await realpath(path)).startsWith((await realpath(within)) + sep)) return undefined
    const facts = await stat(path)
    if (!facts.isFile()) return undefined
    return {
      name: basename(path).replace(ENDING, ''),
      path,
      version: `${facts.size}:${facts.mtimeMs}:${facts.ino}`,
      writtenAt: facts.mtimeMs,
    }
  } catch (error) {
    if (isAbsence(error)) return undefined
    throw error
  }
}

/** Finds models under `modelsPath`. */
export function createModelFiles(modelsPath: string): ModelFiles {
  const list = async () => {
    const entries = await readdir(modelsPath).catch((error: unknown) => {
      if (isAbsence(error)) return []
      throw error
    })
    const models = entries.filter((entry) => ENDING.test(entry) && !LATER_PART.test(entry) && !NO_SPEAKER.test(entry))
    const files = await Promise.all(models.sort().map((entry) => fileAt(join(modelsPath, entry), modelsPath)))
    return files.filter((file) => file !== undefined)
  }
  return {
    list,
    async find(choice) {
      if (isAbsolute(choice)) return fileAt(choice)
      const inFolder = join(modelsPath, choice)
      const found = (await fileAt(`${inFolder}.gguf`, modelsPath)) ?? (ENDING.test(choice) ? await fileAt(inFolder, modelsPath) : undefined)
      // the ending may be written in capitals
      return found ?? (await list()).find(({ name }) => name === choice)
    },
  }
}
