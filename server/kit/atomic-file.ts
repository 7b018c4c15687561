import { closeSync, fsyncSync, mkdirSync, openSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'

/** Replaces the file at `path` whole or not at all, on the disk when it returns. `mode` such as 0o600 for secrets. */
export function writeFileAtomic(path: string, content: string, mode = 0o644): void {
  const folder = dirname(path)
  mkdirSync(folder, { recursive: true })
  const part = `${path}.part`
  rmSync(part, { force: true }) // left by a crash, it would keep its own mode
  try {
    writeThrough(part, content, mode)
    renameSync(part, path)
  } catch (error) {
    rmSync(part, { force: true })
    throw error
  }
  if (process.platform === 'win32') return // a folder cannot be opened there; the rename is journalled
  const entry = openSync(folder, 'r')
  fsyncSync(entry)
  closeSync(entry)
}

function writeThrough(path: string, content: string, mode: number): void {
  const file = openSync(path, 'wx', mode)
  try {
    writeFileSync(file, content) // writeSync may write a part of it and say so only in its result
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
}
