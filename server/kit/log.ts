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
const IN_TEXT = /\b(token|key|code|state|secret|ticket)=[^&\s"']+|\b(Bearer)\s+[\w.~+/=-]+/gi

/** Takes credentials out of a text that was made elsewhere, such as a URL or another library's error. */
export const redactText = (text: string): string =>
  text.replace(IN_TEXT, (_match, name?: string, scheme?: string) => (scheme ? `${scheme} [redacted]` : `${name}=[redacted]`))

/** Structured log, one JSON object a line on stderr; stdout keeps the few lines meant for people and scripts. */
export function createLog(level: string): Logger {
  return pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      redact: { paths: SECRET_KEYS.flatMap((key) => [key, `*.${key}`, `*.*.${key}`]), censor: '[redacted]' },
      hooks: {
        logMethod(args, method) {
          method.apply(this, args.map((arg: unknown) => (typeof arg === 'string' ? redactText(arg) : arg)) as Parameters<typeof method>)
        },
      },
      serializers: {
        err: (error: unknown) => {
          const plain = pino.stdSerializers.err(error as Error)
          return { ...plain, message: redactText(plain.message ?? ''), stack: redactText(plain.stack ?? '') }
        },
      },
    },
    pino.destination({ fd: 2, sync: true }),
  )
}
