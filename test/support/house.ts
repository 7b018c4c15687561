import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { api } from '../../server/api.ts'
import { type App, createApp } from '../../server/app.ts'
import { readConfig } from '../../server/config.ts'
import { type Client, createClient } from '../../server/kit/client.ts'
import { takeLock } from '../../server/kit/lock-file.ts'
import { createLog } from '../../server/kit/log.ts'
import type { DeviceInfo, Scope } from '../../server/modules/paired-devices/paired-devices.contract.ts'
import { findPaths } from '../../server/paths.ts'
import { createSecrets } from '../../server/secrets.ts'
import { CookieJar, freshAddress, type SendOptions, send } from './http.ts'

export const OWNER_PASSWORD = 'correct horse battery'

export type Api = Client<typeof api>

/** A person as a test speaks for them. */
export interface Person {
  api: Api
  /** A raw request with this person's credential. */
  fetch(path: string, init?: RequestInit, options?: SendOptions): Promise<Response>
}

export interface Device extends Person {
  id: string
  accessToken: string
  refreshToken: string
}

export interface Browser extends Person {
  jar: CookieJar
}

export interface House {
  app: App
  url: string
  dataPath: string
  pins: string[]
  /** Somebody without a credential. */
  stranger(): Person
  /** The owner, signed in by password in a browser of their own. */
  owner(): Promise<Browser>
  /** The owner in a browser that stays signed in from call to call, where a sign-in of one's own is not what is tested. */
  residentOwner(): Promise<Browser>
  /** A device paired under a name. */
  pair(name: string, scope?: Scope, type?: DeviceInfo['type']): Promise<Device>
  bearer(token: string): Person
  /** Stops the server and starts another on the same data. */
  restart(): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

export interface HouseOptions {
  env?: Record<string, string>
  /** False leaves the wizard open. */
  setUp?: boolean
}

const BASE_ENV = {
  NODE_ENV: 'test',
  SERVICE_PORT: '0',
  SERVICE_HOST: '127.0.0.1',
  SERVICE_DISCOVERY: '0',
  SERVICE_RATE_LIMIT: '0',
  SERVICE_LOG_LEVEL: 'fatal',
  SERVICE_LLM_GPU: 'off',
  SERVICE_LLM_THREADS: '1',
}

async function startApp(dataPath: string, env: Record<string, string>, pins: string[]): Promise<App> {
  const config = readConfig({ ...BASE_ENV, SERVICE_DATA_PATH: dataPath, ...env }, null)
  const lock = takeLock(join(dataPath, 'hearth.lock'))
  const { windowPath, resourcesPath, version } = findPaths(join(import.meta.dirname, '..', '..', 'server'))
  const app = await createApp({
    config,
    secrets: createSecrets(config, join(dataPath, 'config', 'secrets.env')),
    lock,
    log: createLog(config.env.SERVICE_LOG_LEVEL),
    windowPath,
    resourcesPath,
    version,
    tls: null,
    announcePin: (pin) => void pins.push(pin),
    onSetUp: () => undefined,
    onFatal(error) {
      throw error
    },
  })
  await app.start()
  const stop = app.stop
  app.stop = async () => {
    await stop()
    lock.release()
  }
  return app
}

/** A whole server on a free loopback port with a data root of its own, for one test file. */
export async function startHouse({ env = {}, setUp = true }: HouseOptions = {}): Promise<House> {
  const dataPath = mkdtempSync(join(tmpdir(), 'hearth-test-'))
  const pins: string[] = []
  let app = await startApp(dataPath, env, pins)

  const person = (headers: () => Record<string, string>, took: (response: Response) => void = () => undefined): Person => {
    const ask = async (path: string, init: RequestInit = {}, options: SendOptions = {}) => {
      const response = await send(
        app.url() + path,
        { ...init, headers: { ...headers(), ...Object.fromEntries(new Headers(init.headers)) } },
        { from: freshAddress(), ...options },
      )
      took(response)
      return response
    }
    return { fetch: ask, api: createClient(api, ask) }
  }

  const browser = (): Browser => {
    const jar = new CookieJar()
    const headers = () => ({ ...(jar.header() && { cookie: jar.header() }), origin: app.url(), 'sec-fetch-site': 'same-origin' })
    return { jar, ...person(headers, (response) => jar.take(response)) }
  }

  const resident = browser()
  const house: House = {
    get app() {
      return app
    },
    get url() {
      return app.url()
    },
    dataPath,
    pins,
    stranger: () => person(() => ({})),
    bearer: (token) => person(() => ({ authorization: `Bearer ${token}` })),
    async owner() {
      const signedIn = browser()
      await signedIn.api.auth.local({ body: { password: OWNER_PASSWORD } })
      return signedIn
    },
    async residentOwner() {
      if (!(await resident.api.auth.session()).user) await resident.api.auth.local({ body: { password: OWNER_PASSWORD } })
      return resident
    },
    async pair(name, scope = 'member', type = 'phone') {
      const owner = await house.residentOwner()
      const { qr } = await owner.api.pairing.start({ body: { scope } })
      const link = JSON.parse(Buffer.from(qr.split('d=')[1] ?? '', 'base64url').toString()) as { code: string; secret: string }
      const { accessToken, refreshToken, device } = await house.stranger().api.pairing.complete({
        body: { code: link.code, secret: link.secret, deviceInfo: { name, type } },
      })
      return { id: device.id, accessToken, refreshToken, ...house.bearer(accessToken) }
    },
    async restart() {
      await app.stop()
      app = await startApp(dataPath, env, pins)
    },
    async [Symbol.asyncDispose]() {
      await app.stop()
      rmSync(dataPath, { recursive: true, force: true })
    },
  }
  if (setUp) {
    await resident.api.setup.complete({ body: { pin: pins[0] ?? '', owner: { name: 'Ada', password: OWNER_PASSWORD } } })
  }
  return house
}
