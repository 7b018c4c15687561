import { constants, type Stats } from 'node:fs'
import { type FileHandle, open, realpath } from 'node:fs/promises'
import { join, sep } from 'node:path'
import { writeFileAtomic } from '../../kit/atomic-file.ts'
import { conflict } from '../../kit/errors.ts'
import type { Logger } from '../../kit/log.ts'
import { MOST_TOLD, toldText } from './told-text.ts'

export interface RawFilesDeps {
  /** The folder they are in; nothing outside of it is read. */
  dataPath: string
  /** The personality that Hearth comes with. */
  defaultSoulPath: string
  log: Logger
}

/** More of a file than this is not read. */
const MAX_BYTES = 1024 * 1024
const TOLD: Readonly<Record<string, number>> = { 'soul.md': MOST_TOLD.soul, 'memory.md': MOST_TOLD.memory }
const CUT = '\n\n(The rest of this file is too long to be read.)\n'

interface Known {
  /** What the file was when it was read; another one is read anew. */
  mark: string
  text: string | null
}

const markOf = ({ ino, size, mtimeMs, ctimeMs }: Stats) => `${ino} ${size} ${mtimeMs} ${ctimeMs}`

class Unreadable extends Error {}

export type RawFiles = ReturnType<typeof createRawFiles>

/**
 * The personality and the people’s own text as they stand in their files now. Each look asks the file whether it changed, which costs
 * some microseconds, so that an edit by hand holds from the next look on; there is no watcher to miss it or to run out of.
 */
export function createRawFiles({ dataPath, defaultSoulPath, log }: RawFilesDeps) {
  const known = new Map<string, Known>()
  const complained = new Map<string, string>()

  function complain(name: string, why: string): void {
    if (complained.get(name) === why) return
    complained.set(name, why)
    log.warn({ file: name }, why)
  }

  /** Neither a link out of the folder nor something that is no file is followed; opening a pipe does not wait. */
  async function openInside(name: string): Promise<FileHandle> {
    const path = await realpath(join(dataPath, name))
    const root = await realpath(dataPath)
    if (!path.startsWith(root + sep)) throw new Unreadable('it leads out of the data folder')
    return open(path, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0))
  }

  async function readFrom(file: FileHandle, name: string): Promise<Known> {
    const stats = await file.stat()
    if (!stats.isFile()) throw new Unreadable('it is not a file')
    const mark = markOf(stats)
    const before = known.get(name)
    if (before?.mark === mark) return before
    const bytes = Buffer.alloc(Math.min(stats.size, MAX_BYTES))
    let read = 0
    while (read < bytes.length) {
      const { bytesRead } = await file.read(bytes, read, bytes.length - read, read)
      if (bytesRead === 0) break
      read += bytesRead
    }
    const isCut = stats.size > MAX_BYTES
    const text = new TextDecoder().decode(bytes.subarray(0, read)).replaceAll('\0', '')
    if (isCut) complain(name, 'only the first MiB of this file is read')
    else if (text.includes('\uFFFD')) complain(name, 'parts of this file are not UTF-8 and cannot be read')
    else if (text.length > (TOLD[name] ?? MAX_BYTES))
      complain(name, `only the first ${TOLD[name]} characters of this file are told to the assistant`)
    else complained.delete(name)
    return { mark, text: isCut ? text + CUT : text }
  }

  /** Null where there is no such file, or none that can be read. */
  async function read(name: string): Promise<string | null> {
    let file: FileHandle | undefined
    try {
      file = await openInside(name)
      const found = await readFrom(file, name)
      known.set(name, found)
      return found.text
    } catch (error) {
      const isAbsent = (error as NodeJS.ErrnoException).code === 'ENOENT'
      if (isAbsent) complained.delete(name)
      else complain(name, `this file cannot be read: ${(error as Error).message}`)
      return null
    } finally {
      await file?.close()
    }
  }

  let ownSoul: Promise<string> | undefined
  async function defaultSoul(): Promise<string> {
    ownSoul ??= open(defaultSoulPath).then((file) => file.readFile('utf8').finally(() => file.close()))
    return ownSoul
  }

  const soul = async (): Promise<string> => (await read('soul.md')) ?? (await defaultSoul())
  const memory = async (): Promise<string> => (await read('memory.md')) ?? ''

  return {
    soul,
    memory,

    /** Both as far as the assistant is told them. */
    told: {
      soul: async (): Promise<string> => toldText(await soul(), MOST_TOLD.soul),
      memory: async (): Promise<string> => toldText(await memory(), MOST_TOLD.memory),
    },

    /** Replaces the personality whole; throws 409 where something that is no file is in its place. */
    setSoul(content: string): void {
      try {
        writeFileAtomic(join(dataPath, 'soul.md'), content)
      } catch (error) {
        const { code } = error as NodeJS.ErrnoException
        if (code === 'EISDIR' || code === 'ENOTDIR' || code === 'EEXIST' || code === 'ENOTEMPTY')
          throw conflict('soul_in_the_way', 'In the place of soul.md is something that is no file. Please move it away.')
        throw error
      }
    },
  }
}
