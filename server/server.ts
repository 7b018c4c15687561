import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createSecureContext } from 'node:tls'
import { type App, createApp } from './app.ts'
import { type Config, ConfigError, readConfig } from './config.ts'
import { openControl } from './control.ts'
import { NewerDatabaseError } from './db/database.ts'
import { type Lock, LockedError, takeLock } from './kit/lock-file.ts'
import { createLog } from './kit/log.ts'
import { SettingsFileError } from './modules/settings/settings.service.ts'
import { findPaths } from './paths.ts'
import { createSecrets } from './secrets.ts'

/** Exit statuses of sysexits.h that say why there is no use in trying again. */
const EXIT = { portTaken: 69, disk: 74, locked: 73, config: 78 } as const
const STOP_LIMIT_MS = 5_000
/** One Ctrl-C reaches us twice where the launcher passes it on as well; that is no second wish. */
const ECHO_MS = 100

const control = openControl()
const { checkout, windowPath, resourcesPath, version } = findPaths()
const say = (line: string) => void process.stdout.write(`${line}\n`)
process.stdout.on('error', () => undefined) // whoever read our output may go away; that is no reason to stop

function fail(status: number, reason: string): never {
  process.stderr.write(`${reason}\n`)
  control.send({ kind: 'fatal', reason })
  process.exit(status)
}

function readConfigOrFail(): Config {
  try {
    return readConfig(process.env, checkout)
  } catch (error) {
    if (error instanceof ConfigError) fail(EXIT.config, error.message)
    throw error
  }
}

function takeLockOrFail(path: string): Lock {
  try {
    return takeLock(path)
  } catch (error) {
    if (error instanceof LockedError) fail(EXIT.locked, error.message)
    return fail(EXIT.config, `SERVICE_DATA_PATH cannot be used: ${(error as Error).message}`)
  }
}

function readTls({ env }: Config): { cert: string; key: string } | null {
  if (!env.SERVICE_TLS_CERT || !env.SERVICE_TLS_KEY) return null
  try {
    const tls = { cert: readFileSync(env.SERVICE_TLS_CERT, 'utf8'), key: readFileSync(env.SERVICE_TLS_KEY, 'utf8') }
    createSecureContext(tls)
    return tls
  } catch (error) {
    return fail(EXIT.config, `SERVICE_TLS_CERT and SERVICE_TLS_KEY cannot be used: ${(error as Error).message}`)
  }
}

/** What of a failed start the owner can do something about, as an exit status and a sentence. */
function explain(error: unknown, { env, dataPath }: Config): [status: number, reason: string] | null {
  const { code, syscall } = error as NodeJS.ErrnoException
  const port = `Port ${env.SERVICE_PORT} on ${env.SERVICE_HOST}`
  if (code === 'EADDRINUSE') return [EXIT.portTaken, `${port} is in use by another program. Choose another one with SERVICE_PORT.`]
  if (syscall === 'listen') return [EXIT.portTaken, `${port} cannot be opened (${code}).`]
  const isFault = error instanceof NewerDatabaseError || error instanceof ConfigError || error instanceof SettingsFileError
  if (isFault) return [EXIT.config, error.message]
  if (code?.startsWith('SQLITE_')) return [EXIT.disk, `The database in ${dataPath} cannot be used: ${(error as Error).message} (${code}).`]
  return null
}

const config = readConfigOrFail()
const tls = readTls(config)
const log = createLog(config.env.SERVICE_LOG_LEVEL)
const lock = takeLockOrFail(join(config.dataPath, 'hearth.lock'))
let app: App | undefined
let stopAskedAt: number | null = null

async function stop(reason: string): Promise<void> {
  if (stopAskedAt !== null) {
    if (performance.now() - stopAskedAt > ECHO_MS) process.exit(1)
    return
  }
  stopAskedAt = performance.now()
  log.info({ reason }, 'stopping')
  const limit = setTimeout(() => {
    log.error('stopping took too long')
    lock.release()
    process.exit(1)
  }, STOP_LIMIT_MS)
  await app?.stop()
  clearTimeout(limit)
  lock.release()
  process.exit()
}

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => void stop(signal))
process.on('disconnect', () => void stop('the desktop shell is gone'))
process.on('uncaughtException', (err) => {
  log.fatal({ err }, 'a bug ended the server')
  process.exit(70)
})

control.onMessage((message) => {
  if (message.kind === 'stop') void stop('asked by the desktop shell')
  if (message.kind === 'ticket' && app) control.send({ kind: 'ticket', id: message.id, ticket: app.tickets.issue() })
  if (message.kind === 'reset-password') void resetPassword(message.id, message.password)
})

async function resetPassword(id: string, password: string): Promise<void> {
  try {
    await app?.owner.setPassword(password)
    await app?.sessions.endOthers(null)
    control.send({ kind: 'password-reset', id, error: null })
  } catch (error) {
    control.send({ kind: 'password-reset', id, error: error instanceof Error ? error.message : 'The password was not changed.' })
  }
}

try {
  app = await createApp({
    config,
    secrets: createSecrets(config, join(config.dataPath, 'config', 'secrets.env')),
    lock,
    log,
    windowPath,
    resourcesPath,
    version,
    tls,
    announcePin(pin) {
      say(`Setup PIN: ${pin}`)
      control.send({ kind: 'setup-pin', pin })
    },
    onSetUp: () => control.send({ kind: 'setup-pin', pin: null }),
    onFatal(err) {
      log.fatal({ err }, 'this cannot go on; a new start finds out what the disk holds')
      process.exit(explain(err, config)?.[0] ?? EXIT.disk)
    },
  })
  await app.start()
  say(`Hearth ready on ${app.url()}`)
  control.send({ kind: 'ready', url: app.url(), setupPin: app.setupPin() })
} catch (error) {
  const known = explain(error, config)
  lock.release()
  if (known) fail(...known)
  log.fatal({ err: error }, 'the server could not start')
  fail(1, 'Hearth could not start. The log says why.')
}
