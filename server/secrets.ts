import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { parseEnv } from 'node:util'
import { z } from 'zod'
import { type Config, ConfigError } from './config.ts'
import { writeFileAtomic } from './kit/atomic-file.ts'

const SecretsFile = z.object({
  AUTH_SECRET: z.string().min(32, 'needs at least 32 characters').optional(),
  SERVICE_JWT_SECRET: z.string().min(32, 'needs at least 32 characters').optional(),
  SERVICE_SECRETS_KEY: z
    .string()
    .regex(/^[0-9a-f]{64}$/i, 'is not 32 bytes in hex')
    .optional(),
  AUTH_IDP_ISSUER: z.string().optional(),
  AUTH_IDP_ID: z.string().optional(),
  AUTH_IDP_SECRET: z.string().optional(),
  SERVICE_LLM_API_KEY: z.string().optional(),
  VAPID_PRIVATE_KEY: z
    .string()
    .regex(/^[\w-]{43}$/, 'is not 32 bytes in base64url')
    .optional(),
})
export type SecretName = keyof z.output<typeof SecretsFile>

/** The keys of this house: from the environment, else from `config/secrets.env` (mode 0600). */
export interface Secrets {
  get(name: SecretName): string | undefined
  /** Writes several at once, atomically; undefined removes one. */
  set(values: { [K in SecretName]?: string | undefined }): void
  /** A fresh random secret of 256 bits in hex. */
  fresh(): string
}

function readSecretsFile(path: string): z.output<typeof SecretsFile> {
  let content = ''
  try {
    content = readFileSync(path, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
  }
  const parsed = SecretsFile.safeParse(parseEnv(content))
  if (!parsed.success)
    throw new ConfigError(parsed.error.issues.map((issue) => `${String(issue.path[0])} in config/secrets.env ${issue.message}`))
  return parsed.data
}

/** Reads the secrets of one data root. Throws {@link ConfigError} when the file holds a value that cannot be right. */
export function createSecrets({ env }: Config, path: string): Secrets {
  let file = readSecretsFile(path)
  return {
    get: (name) => (name === 'AUTH_IDP_ISSUER' ? (file[name] ?? env[name]) : (env[name] ?? file[name])),
    set(values) {
      const next = { ...file, ...values }
      const lines = Object.entries(next).flatMap(([name, value]) => (value === undefined ? [] : [`${name}=${JSON.stringify(value)}`]))
      writeFileAtomic(path, `${lines.join('\n')}\n`, 0o600)
      file = readSecretsFile(path)
    },
    fresh: () => randomBytes(32).toString('hex'),
  }
}
