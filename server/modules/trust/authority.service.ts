import type { X509Certificate } from 'node:crypto'
import { conflict } from '../../kit/errors.ts'
import type { Logger } from '../../kit/log.ts'
import type { AuthorityFiles } from './authority-files.ts'
import { createRoot, createServerIdentity, fingerprintOf, type Identity, namesIn, permitted, readIdentity } from './certificates.ts'
import { constrainedNames } from './name-constraints.ts'
import type { Trust } from './trust.contract.ts'

export interface AuthorityDeps {
  files: AuthorityFiles
  /** The environment names a certificate, which wins. */
  fixed: boolean
  /** Host names of this server that a certificate can hold, its own first. */
  names(): string[]
  /** Its addresses at home. */
  addresses(): string[]
  /** The certificate to answer TLS with from now on; null for none. Open connections keep theirs. */
  onIdentity(identity: Identity | null): void
  log: Logger
  now?: () => number
  lookAgainMs?: number
}

interface Root {
  identity: Identity
  certificate: X509Certificate
  names: string[]
}

export type Authority = ReturnType<typeof createAuthority>

const LOOK_AGAIN_MS = 60_000
const RENEW_BEFORE_MS = 30 * 86_400_000
const DAMAGED = 'The files of the authority are damaged. Switch it on again to make a new one; devices then have to trust that one.'
const NOT_MADE = 'The certificate of this server could not be made or kept. It is tried again every minute.'
const ENDED = 'The authority has come to its end. Switch it on again to make a new one; devices then have to trust that one.'

/** Hearth’s own certificate authority: made and removed by the owner, its server certificate renewed as time, names and addresses pass. */
export function createAuthority({ files, fixed, now = Date.now, log, lookAgainMs = LOOK_AGAIN_MS, ...deps }: AuthorityDeps) {
  let root: Root | null = null
  let server: X509Certificate | null = null
  let fault: string | null = null
  let timer: NodeJS.Timeout | undefined
  let turn: Promise<unknown> = Promise.resolve()

  /** One change at a time: a renewal must not bring back what was removed. */
  function inTurn<T>(work: () => Promise<T>): Promise<T> {
    const mine = turn.then(work)
    turn = mine.catch(() => undefined) // whoever asked hears of it
    return mine
  }

  const wanted = () => [...new Set([...deps.names(), 'localhost', '127.0.0.1', '::1', ...deps.addresses()])]

  function use(next: Root, identity: Identity): void {
    const certificate = readIdentity(identity)
    deps.onIdentity(identity)
    root = next
    server = certificate
    fault = null
  }

  function turnOff(reason: string | null): void {
    if (server) deps.onIdentity(null)
    root = null
    server = null
    fault = reason
  }

  function readRoot(): Root {
    const identity = files.readRoot()
    const certificate = readIdentity(identity)
    return { identity, certificate, names: constrainedNames(certificate.raw) }
  }

  /** Whether a certificate of ours holds for exactly `names`, now and for a while. */
  function isGood(certificate: X509Certificate, { certificate: issuer }: Root, names: string[]): boolean {
    const held = new Set(namesIn(certificate).map(canonical))
    const sameNames = held.size === names.length && names.every((name) => held.has(canonical(name)))
    const left = certificate.validToDate.getTime() - now()
    const isFresh = left > Math.min(RENEW_BEFORE_MS, issuer.validToDate.getTime() - now() - 1)
    return sameNames && isFresh && certificate.validFromDate.getTime() <= now() && certificate.verify(issuer.publicKey)
  }

  async function renew(next: Root): Promise<void> {
    const names = permitted(wanted(), next.names)
    if (server && root && isGood(server, next, names)) return
    if (!server) {
      try {
        const stored = files.readServer()
        if (isGood(readIdentity(stored), next, names)) return use(next, stored)
      } catch {} // missing or damaged: made anew
    }
    const identity = await createServerIdentity(next.identity, names, now())
    files.writeServer(identity)
    use(next, identity)
    log.info({ names }, 'the certificate of this server was made anew')
  }

  function fail(err: unknown, reason: string): void {
    if (fault !== reason) log.error({ err }, 'the certificate authority cannot be used')
    if (server)
      fault = reason // what still works goes on working
    else turnOff(reason)
  }

  async function look(): Promise<void> {
    if (fixed || !files.exists()) return turnOff(null)
    let next: Root
    try {
      next = root ?? readRoot()
    } catch (err) {
      return fail(err, DAMAGED)
    }
    if (next.certificate.validToDate.getTime() <= now()) return turnOff(ENDED)
    try {
      await renew(next)
      fault = null
    } catch (err) {
      fail(err, NOT_MADE)
    }
  }

  return {
    /** Looks at the files and keeps them fresh from then on. */
    async start(): Promise<void> {
      await inTurn(look)
      timer = setInterval(() => void inTurn(look), lookAgainMs)
      timer.unref()
    },
    async stop(): Promise<void> {
      clearInterval(timer)
      await turn
    },
    /** Renews the server’s certificate where names or addresses changed. */
    refresh: (): Promise<void> => inTurn(look),
    enable: (): Promise<void> =>
      inTurn(async () => {
        if (fixed) throw conflict('tls_fixed', 'SERVICE_TLS_CERT and SERVICE_TLS_KEY already name a certificate.')
        if (!server) await look()
        if (server) return
        if (fault === NOT_MADE) throw conflict('certificate_failed', NOT_MADE) // the authority itself is well, and devices trust it
        files.remove()
        const identity = await createRoot(deps.names(), now())
        const certificate = readIdentity(identity)
        const made = { identity, certificate, names: constrainedNames(certificate.raw) }
        const first = await createServerIdentity(identity, permitted(wanted(), made.names), now())
        files.writeServer(first)
        files.writeRoot(identity)
        use(made, first)
      }),
    disable: (): Promise<void> =>
      inTurn(async () => {
        if (fixed) throw conflict('tls_fixed', 'SERVICE_TLS_CERT and SERVICE_TLS_KEY name the certificate; it is switched off there.')
        files.remove()
        turnOff(null)
      }),
    /** The authority’s certificate for devices to install; null where there is none in use. */
    certificate: (): X509Certificate | null => root?.certificate ?? null,
    describe(): Trust {
      const names = server ? namesIn(server) : []
      return {
        enabled: server !== null,
        fixed,
        fault,
        fingerprint: root ? fingerprintOf(root.certificate) : null,
        names,
        uncovered: root ? uncoveredOf(deps.names(), root.names) : [],
        expiresAt: root?.certificate.validToDate.toISOString() ?? null,
      }
    },
  }
}

function uncoveredOf(names: string[], rootNames: string[]): string[] {
  const covered = new Set(permitted(names, rootNames))
  return names.filter((name) => !covered.has(name))
}

/** Addresses of IPv6 are written in several ways. */
function canonical(name: string): string {
  return name.includes(':') ? (URL.parse(`http://[${name}]`)?.hostname ?? name) : name.toLowerCase()
}
