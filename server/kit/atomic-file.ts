import { closeSync, fsyncSync, mkdirSync, openSync, renameSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'

/** Replaces the file at `path` whole or not at all, on the disk when it returns. `mode` such as 0o600 for secrets. */
export function writeFileAtomic(path: string, content: string, mode = 0o644): void {
  const folder = dirname(path)
  mkdirSync(folder, { recursive: true })
  const part = `${path}.part`
  const file = openSync(part, 'w', mode)
  try {
    writeSync(file, content)
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
  renameSync(part, path)
  if (process.platform === 'win32') return // a folder cannot be opened there; the rename is journalled
  const entry = openSync(folder, 'r')
  fsyncSync(entry)
  closeSync(entry)
}
