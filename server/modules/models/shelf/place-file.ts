import { constants } from 'node:fs'
import { copyFile, mkdir, open, rename, rm, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { conflict } from '../../../kit/errors.ts'

/** Under the models folder, for what is still on its way into it. */
export const PART_FOLDER = '.part'

async function syncPath(path: string): Promise<void> {
  const entry = await open(path, 'r')
  try {
    await entry.sync()
  } finally {
    await entry.close()
  }
}

const exists = (path: string) =>
  stat(path).then(
    () => true,
    (error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return false
      throw error
    },
  )

export const modelExists = (name: string) => conflict('model_exists', `There is already a model called ${name}.`)

async function moveOver(from: string, to: string): Promise<void> {
  try {
    await rename(from, to)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EXDEV') throw error
    // the models folder may lie on another disk
    const beside = join(dirname(to), PART_FOLDER, `moving-${basename(from)}`)
    try {
      await mkdir(dirname(beside), { recursive: true })
      await copyFile(from, beside, constants.COPYFILE_EXCL)
      await syncPath(beside)
      await rename(beside, to)
    } finally {
      await rm(beside, { force: true })
    }
    await rm(from, { force: true })
  }
}

/** Moves files into the models folder, whole or not at all, on the disk when it resolves; 409 `model_exists` rather than over another. */
export function createFilePlacer(): (from: string, to: string) => Promise<void> {
  const busy = new Set<string>()
  return async (from, to) => {
    const name = basename(to).replace(/\.gguf$/i, '')
    const key = to.toLowerCase()
    if (busy.has(key)) throw modelExists(name)
    busy.add(key)
    try {
      await syncPath(from)
      if (await exists(to)) throw modelExists(name)
      await moveOver(from, to)
      // a folder cannot be opened on Windows; the rename is journalled there
      if (process.platform !== 'win32') await syncPath(dirname(to))
    } finally {
      busy.delete(key)
    }
  }
}
