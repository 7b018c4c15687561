import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { z } from 'zod'

export interface Paths {
  /** The source tree, or null in the packaged app. */
  checkout: string | null
  windowPath: string
  resourcesPath: string
  version: string
}

const Package = z.object({ version: z.string() })

/** Finds what Hearth comes with, upwards from the folder this file runs in: `server/`, or `dist/server/` once bundled; packaged, both are in an asar. */
export function findPaths(here: string = import.meta.dirname): Paths {
  let root = resolve(here)
  while (!existsSync(join(root, 'package.json'))) {
    if (dirname(root) === root) throw new Error(`There is no package.json above ${here}`)
    root = dirname(root)
  }
  const { version } = Package.parse(JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')))
  const packaged = /\.asar(\.unpacked)?$/.test(root)
  return { checkout: packaged ? null : root, windowPath: join(root, 'dist', 'renderer'), resourcesPath: join(root, 'resources'), version }
}
