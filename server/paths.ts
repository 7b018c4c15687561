import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { z } from 'zod'

export interface Paths {
  /** The source tree, or null in the packaged app. */
  checkout: string | null
  windowPath: string
  resourcesPath: string
  version: string
}

const Package = z.object({ version: z.string() })

/** Finds what Hearth comes with, from the folder this file runs in: `server/` of a checkout, `dist/server/` once bundled. */
export function findPaths(here: string = import.meta.dirname): Paths {
  let root = here
  while (!existsSync(join(root, 'package.json'))) {
    if (dirname(root) === root) throw new Error(`There is no package.json above ${here}`)
    root = dirname(root)
  }
  const { version } = Package.parse(JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')))
  const checkout = here === join(root, 'server') ? root : null
  return { checkout, windowPath: join(root, 'dist', 'renderer'), resourcesPath: join(root, 'resources'), version }
}
