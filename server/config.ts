import { isIP } from 'node:net'
import { homedir } from 'node:os'
import { join, resolve } from 'node:path'
import ipaddr from 'ipaddr.js'
import { z } from 'zod'

const list = (value: string) =>
  value
    .split(',')
    .map((part) => part.trim())
    .filter(Boolean)
const flag = z.enum(['0', '1', 'true', 'false']).transform((value) => value === '1' || value === 'true')
const port = z
  .string()
  .regex(/^\d{1,5}$/, 'is not a port')
  .transform(Number)
  .pipe(z.number().max(65_535))
const positive = z.string().regex(/^\d+$/, 'is not a whole number').transform(Number).pipe(z.number().min(1).max(10_000_000))
const httpUrl = z.url({ protocol: /^https?$/, error: 'is not an http(s) address' })
const hostList = z.string().transform((value) => list(value.toLowerCase()))
const cidrs = z
  .string()
  .transform(list)
  .refine((values) => values.every((value) => isIP(value.split('/')[0] ?? '') > 0 && ipaddr.isValidCIDR(value)), 'is not a list of CIDRs')
const secret = z.string().min(32, 'needs at least 32 characters')
const secretsKey = z.string().regex(/^[0-9a-f]{64}$/i, 'is not 32 bytes in hex')
const emails = z
  .string()
  .transform((value) => list(value.toLowerCase()))
  .refine((values) => values.length > 0 && values.every((value) => z.email().safeParse(value).success), 'is not a list of e-mail addresses')

/** Every variable that Hearth reads, under its own name. */
const Environment = z.object({
  NODE_ENV: z.string().optional(),
  SERVICE_PORT: port.default(7420),
  SERVICE_HOST: z
    .string()
    .refine((value) => isIP(value) > 0 || value === 'localhost', 'is not an address')
    .default('0.0.0.0'),
  SERVICE_DATA_PATH: z.string().optional(),
  SERVICE_LOG_LEVEL: z.enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal']).default('info'),
  SERVICE_TLS_CERT: z.string().optional(),
  SERVICE_TLS_KEY: z.string().optional(),
  SERVICE_PUBLIC_URL: httpUrl.optional(),
  SERVICE_ALLOWED_HOSTS: hostList.optional(),
  SERVICE_TRUSTED_PROXIES: cidrs.default([]),
  SERVICE_RATE_LIMIT: z.string().regex(/^\d+$/, 'is not a whole number').transform(Number).default(1200),
  SERVICE_DISCOVERY: flag.default(true),
  SERVICE_OWNER_PASSWORD: z.string().min(10, 'needs at least 10 characters').optional(),
  SERVICE_JWT_SECRET: secret.optional(),
  SERVICE_SECRETS_KEY: secretsKey.optional(),
  SERVICE_ACCESS_TOKEN_TTL_SECONDS: positive.default(900),
  SERVICE_REFRESH_TOKEN_TTL_DAYS: positive.default(90),
  SERVICE_ALLOWED_EMAILS: emails.optional(),
  SERVICE_AUTH_V2: flag.default(true),
  SERVICE_LLM_MODEL: z.string().optional(),
  SERVICE_EMBEDDING_MODEL: z.string().optional(),
  SERVICE_MODEL_HUB_URL: httpUrl.optional(),
  SERVICE_LLM_BASE_URL: httpUrl.optional(),
  SERVICE_LLM_API_KEY: z.string().optional(),
  SERVICE_LLM_GPU: z.enum(['auto', 'off']).default('auto'),
  SERVICE_LLM_THREADS: positive.optional(),
  SERVICE_FFMPEG_PATH: z.string().optional(),
  SERVICE_FFPROBE_PATH: z.string().optional(),
  SERVICE_PLUGINS_PATH: z.string().optional(),
  /** For plugins alone, as the next one is for the rest of the house. */
  SERVICE_PLUGIN_FETCH_ALLOW_LOCAL: flag.default(false),
  /** Lets http_request, calendars and push gateways reach this machine and the home network. */
  SERVICE_FETCH_ALLOW_LOCAL: flag.default(false),
  SERVICE_PLUGINS_HOT_RELOAD: flag.default(false),
  AUTH_SECRET: secret.optional(),
  AUTH_IDP_ISSUER: httpUrl.default('https://accounts.google.com'),
  AUTH_IDP_ID: z.string().optional(),
  AUTH_IDP_SECRET: z.string().optional(),
  PUSH_ACCESS_TOKEN: z.string().optional(),
  CLOUD_MESSAGING_SERVICE_ACCOUNT: z.string().optional(),
  EXPO_BASE_URL: httpUrl.optional(),
  VAPID_PRIVATE_KEY: z
    .string()
    .regex(/^[\w-]{43}$/, 'is not 32 bytes in base64url')
    .optional(),
  IOT_AUTO_PAIR: flag.default(true),
  PLUG_DEVICE_ID: z.string().optional(),
  PLUG_LOCAL_KEY: z.string().optional(),
  PLUG_DEVICE_IP: z
    .string()
    .refine((value) => isIP(value) > 0, 'is not an address')
    .optional(),
  PLUG_PROTOCOL_VERSION: z.enum(['3.1', '3.2', '3.3', '3.4']).default('3.3'),
})

export type Environment = z.output<typeof Environment>

export interface Config {
  env: Environment
  /** Names of the variables that were set; the settings page shows these as fixed. */
  fixed: ReadonlySet<string>
  dataPath: string
  production: boolean
}

/** Faults of the environment, one line each, naming the variable. */
export class ConfigError extends Error {
  readonly faults: string[]
  constructor(faults: string[]) {
    super(faults.join('\n'))
    this.name = 'ConfigError'
    this.faults = faults
  }
}

/** Where an installed app keeps its data; a checkout keeps it in its own `data/`. */
function userDataPath(env: NodeJS.ProcessEnv): string {
  if (process.platform === 'win32') return join(env.APPDATA ?? join(homedir(), 'AppData', 'Roaming'), 'Hearth')
  if (process.platform === 'darwin') return join(homedir(), 'Library', 'Application Support', 'Hearth')
  return join(env.XDG_DATA_HOME ?? join(homedir(), '.local', 'share'), 'hearth')
}

const together: [keyof Environment, keyof Environment][] = [
  ['SERVICE_TLS_CERT', 'SERVICE_TLS_KEY'],
  ['AUTH_IDP_ID', 'AUTH_IDP_SECRET'],
]

/**
 * The only reader of the environment. `checkout` is the folder of the source tree, or null in the packaged app. An empty
 * variable counts as unset. Throws {@link ConfigError}.
 */
export function readConfig(environment: NodeJS.ProcessEnv, checkout: string | null): Config {
  const given = Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== ''))
  const parsed = Environment.safeParse(given)
  const faults = parsed.success ? [] : parsed.error.issues.map(({ path, message }) => `${String(path[0])} ${message}`)
  for (const [a, b] of together) if ((given[a] === undefined) !== (given[b] === undefined)) faults.push(`${a} and ${b} go together`)
  if (!parsed.success || faults.length > 0) throw new ConfigError(faults)
  const env = parsed.data
  return {
    env,
    fixed: new Set(Object.keys(Environment.shape).filter((name) => given[name] !== undefined)),
    dataPath: resolve(env.SERVICE_DATA_PATH ?? (checkout ? join(checkout, 'data') : userDataPath(environment))),
    production: checkout === null || env.NODE_ENV === 'production',
  }
}
