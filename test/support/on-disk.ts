import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** Which of these texts occur in which files under `root`, databases and their logs included, as `file: text`. */
export function occurrences(root: string, texts: Record<string, string>): string[] {
  const files = readdirSync(root, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
  return files.flatMap(({ parentPath, name }) => {
    const bytes = readFileSync(join(parentPath, name))
    return Object.entries(texts)
      .filter(([, text]) => bytes.includes(text))
      .map(([what]) => `${name}: ${what}`)
  })
}

/** A value of `config/secrets.env` in a data root. */
export function secretOf(dataPath: string, name: string): string {
  const file = readFileSync(join(dataPath, 'config', 'secrets.env'), 'utf8')
  const value = new RegExp(`^${name}="?([^"\n]+)"?$`, 'm').exec(file)?.[1]
  if (!value) throw new Error(`${name} is not in secrets.env`)
  return value
}
