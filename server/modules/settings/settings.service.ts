import { readFileSync } from 'node:fs'
import { z } from 'zod'
import type { Config } from '../../config.ts'
import { writeFileAtomic } from '../../kit/atomic-file.ts'
import { conflict } from '../../kit/errors.ts'
import type { Secrets } from '../../secrets.ts'
import { type SecretName, type SettingName, type Settings, secretFields, settingFields } from './settings.contract.ts'

type Values = { [K in SettingName]: string | null }
type Changes = { [K in SettingName | SecretName]?: string | null | undefined }

const StoredSettings = z.looseObject(z.object(settingFields).partial().shape)
const names = Object.keys(settingFields) as SettingName[]
const secretNames = Object.keys(secretFields) as SecretName[]

export interface SettingsDeps {
  config: Config
  secrets: Secrets
  /** `config/settings.json`. */
  path: string
  addresses(): string[]
}

export type SettingsService = ReturnType<typeof createSettingsService>

/** `config/settings.json` holds what cannot be right; the message has one line per fault. */
export class SettingsFileError extends Error {
  constructor(faults: string[]) {
    super(faults.join('\n'))
    this.name = 'SettingsFileError'
  }
}

function readStored(path: string): z.output<typeof StoredSettings> {
  let content: unknown
  try {
    content = JSON.parse(readFileSync(path, 'utf8'))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return {}
    throw new SettingsFileError([`config/settings.json cannot be read: ${error instanceof Error ? error.message : String(error)}`])
  }
  const parsed = StoredSettings.safeParse(content)
  if (parsed.success) return parsed.data
  throw new SettingsFileError(parsed.error.issues.map((issue) => `${issue.path.join('.')} in config/settings.json: ${issue.message}`))
}

/** What may be set on a page: the environment rules, then the file, then the default. */
export function createSettingsService({ config, secrets, path, addresses }: SettingsDeps) {
  let stored = readStored(path)
  const listeners = new Set<() => void>()

  const fromEnvironment = (name: SettingName): string | null => {
    const value = config.env[name]
    return value === undefined ? null : Array.isArray(value) ? value.join(',') : value
  }
  const values = (): Values => Object.fromEntries(names.map((name) => [name, fromEnvironment(name) ?? stored[name] ?? null])) as Values

  return {
    values,
    publicUrl: (): string | null => fromEnvironment('SERVICE_PUBLIC_URL') ?? stored.SERVICE_PUBLIC_URL ?? null,
    allowedHosts: (): string[] =>
      (values().SERVICE_ALLOWED_HOSTS ?? '')
        .toLowerCase()
        .split(',')
        .map((host) => host.trim())
        .filter(Boolean),

    get: (): Settings => ({
      ...values(),
      locked: [...names, ...secretNames].filter((name) => config.fixed.has(name)),
      secretsSet: secretNames.filter((name) => secrets.get(name) !== undefined),
      addresses: addresses(),
    }),

    /** Throws 409 `setting_locked` for what the environment fixes. Listeners hear of it once it is on the disk. */
    update(changes: Changes): void {
      const given = Object.entries(changes).filter(([, value]) => value !== undefined) as [SettingName | SecretName, string | null][]
      const same = (name: string, value: string | null) => name in settingFields && values()[name as SettingName] === value
      const locked = given.find(([name, value]) => config.fixed.has(name) && !same(name, value))
      if (locked) throw conflict('setting_locked', `${locked[0]} is set by the environment.`)
      const isSecret = ([name]: [string, unknown]) => name in secretFields
      const secretChanges = given.filter(isSecret)
      if (secretChanges.length > 0) secrets.set(Object.fromEntries(secretChanges.map(([name, value]) => [name, value ?? undefined])))
      const next = { ...stored, ...Object.fromEntries(given.filter((entry) => !isSecret(entry) && !config.fixed.has(entry[0]))) }
      writeFileAtomic(path, `${JSON.stringify(next, null, 2)}\n`)
      stored = next
      for (const listener of listeners) listener()
    },

    /** Calls `listener` after each change. */
    onChange: (listener: () => void) => void listeners.add(listener),
  }
}
