import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { expect, test } from 'vitest'

const ROOT = join(import.meta.dirname, '..')
const BROWSER_KIT = String.raw`server/kit/(endpoint|client|errors|events|name-text|socket-message|socket\.contract)\.ts$`

/** Who may import what as a value; types are free. The first row that fits a file decides, and its reason is what a failure prints. */
const rules: { from: RegExp; may: RegExp; because: string }[] = [
  {
    from: /^server\/(api|.*\.contract)\.ts$/,
    may: new RegExp(`\\.contract\\.ts$|^${BROWSER_KIT}`),
    because: 'contracts run in the browser too',
  },
  { from: /^server\/kit\//, may: /^server\/kit\//, because: 'the kit knows no domain' },
  { from: /^server\/db\//, may: /^server\/(kit|db)\//, because: 'the database knows no domain' },
  {
    from: /^server\/modules\/([\w-]+)\//,
    may: /^server\/(kit|db)\/|^server\/modules\/$1\/|\.contract\.ts$|\.table\.ts$|^server\/modules\/auth\/(cookies|password-hash)\.ts$/,
    because: 'modules meet through contracts, tables, and services that are handed to them',
  },
  {
    from: /^server\/(house\/.*|doors|app|server|tables|topics|sockets|cli\/.*)\.ts$/,
    may: /^server\//,
    because: 'the roots may see all of the server',
  },
  { from: /^server\//, may: /^server\/(kit\/|[\w.-]+\.ts$)/, because: 'what stands beside the roots knows no domain' },
  {
    from: /^renderer\//,
    may: new RegExp(`^renderer/|^server/api\\.ts$|\\.contract\\.ts$|^${BROWSER_KIT}|^resources/`),
    because: 'the window sees only the API',
  },
  { from: /^main\//, may: /^main\/|^server\/control\.contract\.ts$/, because: 'the shell has no database and no domain' },
]

/** Files that read the environment besides the one that is there for it. */
const readsEnvironment: Record<string, string> = {
  'server/server.ts': 'hands it to config.ts',
  'server/cli/terminal.ts': 'hands it to config.ts',
  'server/modules/models/llama/llama-child.ts': 'passes an allow-list of it to the model process',
  'main/main.ts': 'passes it to the server process',
}

const files = ['server', 'main', 'renderer'].flatMap((top) =>
  readdirSync(join(ROOT, top), { recursive: true, encoding: 'utf8' })
    .filter((file) => /\.(ts|svelte)$/.test(file) && !file.endsWith('vite.config.ts'))
    .map((file) => normalize(join(top, file)).replaceAll('\\', '/')),
)
const source = new Map(files.map((file) => [file, readFileSync(join(ROOT, file), 'utf8')]))

/** Files of this tree that a file imports as values. */
function imports(file: string): string[] {
  const found = [...(source.get(file) ?? '').matchAll(/^\s*(?:import|export)\s(?!type\s)([^'"]*?)(?:from\s)?['"](\.[^'"]+)['"]/gm)]
  return found
    .filter(([, names = '']) => !/^\{(\s*type\s[^,}]+,?)+\s*\}/.test(names.trim()))
    .map(([, , path = '']) => join(dirname(file), path).replaceAll('\\', '/'))
}

const graph = new Map(files.map((file) => [file, imports(file)]))

test('every import points inward', () => {
  const broken = files.flatMap((file) => {
    const rule = rules.find(({ from }) => from.test(file))
    if (!rule) return [`${file} is under no rule`]
    const own = rule.from.exec(file)?.[1] ?? ''
    const may = new RegExp(rule.may.source.replaceAll('$1', own))
    return (graph.get(file) ?? []).filter((target) => !may.test(target)).map((target) => `${file} -> ${target}: ${rule.because}`)
  })
  expect(broken).toEqual([])
})

test('no imports run in a circle', () => {
  const state = new Map<string, 'open' | 'done'>()
  const circles: string[] = []
  const visit = (file: string, path: string[]): void => {
    if (state.get(file) === 'done') return
    if (state.get(file) === 'open') {
      circles.push([...path.slice(path.indexOf(file)), file].join(' -> '))
      return
    }
    state.set(file, 'open')
    for (const next of graph.get(file) ?? []) visit(next, [...path, file])
    state.set(file, 'done')
  }
  for (const file of files) visit(file, [])
  expect(circles).toEqual([])
})

test('the environment is read in one place', () => {
  const readers = files.filter((file) => /process\.env\b/.test(source.get(file) ?? ''))
  expect(readers.sort()).toEqual(Object.keys(readsEnvironment).sort())
})

test('no file is named for being a mixture', () => {
  expect(files.filter((file) => /(^|[/.-])(utils?|helpers?|common|manager|types)\.(ts|svelte)$/i.test(file))).toEqual([])
})

test('a rule that is broken is seen', () => {
  const [rule] = rules.filter(({ from }) => from.test('server/kit/http.ts'))
  expect(rule?.may.test('server/modules/chat/chat.table.ts')).toBe(false)
})
