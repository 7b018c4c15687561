import { type Logger, pino } from 'pino'

export type { Logger }

const SECRET_KEYS = [
  'password',
  'secret',
  'token',
  'accessToken',
  'refreshToken',
  'key',
  'apiKey',
  'cookie',
  'authorization',
  'pin',
  'ticket',
]
/** Values after a telling name, as in queries, cookies and settings, stop where a JSON string or a further pair begins. */
const NAMED = /((?:token|key|code|state|secret|ticket|password|hearth_session|hearth_device)=)[^&;,\s"'\\]+/gi
const BEARER = /\b(Bearer|Basic)\s+[\w.~+/=-]{8,}/gi
const API_KEY = /\bhk_[\w-]{8,}/g

/** Takes credentials out of a text that was made elsewhere, such as a URL or another library's error. */
export const redactText = (text: string): string =>
  text.replace(NAMED, '$1[redacted]').replace(BEARER, '$1 [redacted]').replace(API_KEY, '[redacted]')

/** Structured log, one JSON object a line on stderr; stdout keeps the few lines meant for people and scripts. */
export function createLog(level: string): Logger {
  return pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      redact: { paths: SECRET_KEYS.flatMap((key) => [key, `*.${key}`, `*.*.${key}`, `*.*.*.${key}`]), censor: '[redacted]' },
      hooks: { streamWrite: redactText },
    },
    pino.destination({ fd: 2, sync: true }),
  )
}
