import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join, sep } from 'node:path'

/**
 * Every file under a folder (or the file itself), in a steady order.
 * @param {string} path
 * @returns {string[]}
 */
function filesUnder(path) {
  if (!existsSync(path)) return []
  if (!statSync(path).isDirectory()) return [path]
  return readdirSync(path)
    .sort()
    .flatMap((name) => filesUnder(join(path, name)))
}

/**
 * One fingerprint of names and contents: it changes when a file is added, removed, renamed or edited, not when it is touched.
 * @param {string} base
 * @param {string[]} places files or folders inside base
 * @param {(path: string) => boolean} [counts] asked with paths relative to base, with forward slashes
 */
export function fingerprint(base, places, counts = () => true) {
  const hash = createHash('sha256')
  for (const file of places.flatMap((place) => filesUnder(join(base, place)))) {
    const name = file
      .slice(base.length + 1)
      .split(sep)
      .join('/')
    if (!counts(name)) continue
    const content = readFileSync(file)
    hash.update(`${name}\0${content.length}\0`).update(content)
  }
  return hash.digest('hex')
}
