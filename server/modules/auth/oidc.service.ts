import * as client from 'openid-client'
import { z } from 'zod'
import { randomToken } from '../../kit/crypto.ts'
import { AppError, forbidden, invalid } from '../../kit/errors.ts'
import { isLoopback, isPrivateAddress, type RequestFacts } from '../../kit/request-facts.ts'
import { boundedFetch } from './bounded-fetch.ts'

const PENDING_MS = 10 * 60_000
const MAX_PENDING = 100
const PROVIDER_WAIT_SECONDS = 6

export interface Provider {
  issuer: string
  clientId: string
  clientSecret: string
}

export interface OidcDeps {
  provider(): Provider | null
  /** Base of the redirect address: the public URL, else http://localhost:PORT; never taken from a request. */
  base(): string
}

export interface Profile {
  email: string
  picture: string | null
}

interface Pending {
  browser: string
  state: string
  nonce: string
  verifier: string
  returnTo: string
  until: number
}

const Claims = z.object({ email: z.email(), email_verified: z.literal(true), picture: z.string().max(2048).optional() })

export type OidcService = ReturnType<typeof createOidcService>

const isHomeHost = (hostname: string) => hostname === 'localhost' || isLoopback(hostname) || isPrivateAddress(hostname)

/** Sign-in at an OpenID Connect provider: code flow with PKCE, state and nonce, bound to the browser that began it. */
export function createOidcService({ provider, base }: OidcDeps) {
  const pending = new Map<string, Pending>()
  let discovered: { key: string; configuration: client.Configuration } | null = null

  async function configuration({ issuer, clientId, clientSecret }: Provider): Promise<client.Configuration> {
    const key = `${issuer} ${clientId} ${clientSecret}`
    if (discovered?.key === key) return discovered.configuration
    const url = new URL(issuer)
    const insecure = url.protocol === 'http:' && isHomeHost(url.hostname)
    const found = await client.discovery(url, clientId, clientSecret, undefined, {
      timeout: PROVIDER_WAIT_SECONDS,
      [client.customFetch]: boundedFetch,
      // By default the library leaves the ID token's signature to TLS, which a provider on the home network may not have.
      execute: [client.enableNonRepudiationChecks, ...(insecure ? [client.allowInsecureRequests] : [])],
    })
    discovered = { key, configuration: found }
    return found
  }

  const redirectUri = () => `${base()}/api/auth/callback`

  async function upstream<T>(work: Promise<T>): Promise<T> {
    try {
      return await work
    } catch (error) {
      if (error instanceof client.AuthorizationResponseError || error instanceof client.ResponseBodyError) {
        throw new AppError(400, 'sign_in_failed', 'The identity provider did not sign you in.', { cause: error })
      }
      const timedOut =
        error instanceof Error && (error.name === 'TimeoutError' || (error.cause as Error | undefined)?.name === 'TimeoutError')
      if (timedOut) throw new AppError(504, 'timeout', 'The identity provider did not answer.', { cause: error })
      throw new AppError(502, 'upstream_failed', 'The identity provider gave an answer that cannot be trusted.', { cause: error })
    }
  }

  function forget(now: number): void {
    for (const [key, { until }] of pending) if (until < now || pending.size > MAX_PENDING) pending.delete(key)
  }

  return {
    isConfigured: () => provider() !== null,
    base,

    /** Whether the browser came by the address that the provider will send it back to. */
    fits: ({ host, secure }: RequestFacts) => new URL(base()).host === host && new URL(base()).protocol === (secure ? 'https:' : 'http:'),

    /** Where to send the browser, and the value of the cookie that binds it. */
    async begin(returnTo: string): Promise<{ location: string; browser: string }> {
      const chosen = provider()
      if (!chosen) throw new AppError(409, 'conflict', 'No identity provider is set up.')
      const found = await upstream(configuration(chosen))
      const entry: Pending = {
        browser: randomToken(),
        state: client.randomState(),
        nonce: client.randomNonce(),
        verifier: client.randomPKCECodeVerifier(),
        returnTo,
        until: Date.now() + PENDING_MS,
      }
      forget(Date.now())
      pending.set(entry.state, entry)
      const location = client.buildAuthorizationUrl(found, {
        redirect_uri: redirectUri(),
        scope: 'openid email profile',
        state: entry.state,
        nonce: entry.nonce,
        code_challenge: await client.calculatePKCECodeChallenge(entry.verifier),
        code_challenge_method: 'S256',
      })
      return { location: location.href, browser: entry.browser }
    },

    /** The verified profile of who signed in. Each begun sign-in can be finished once, by its own browser. */
    async finish(facts: RequestFacts, browser: string | null): Promise<{ profile: Profile; returnTo: string }> {
      const state = new URLSearchParams(facts.search).get('state') ?? ''
      const entry = pending.get(state)
      if (!entry || entry.until < Date.now() || browser !== entry.browser)
        throw invalid([{ path: 'query.state', message: 'is not a sign-in that this browser began' }])
      pending.delete(state)
      const chosen = provider()
      if (!chosen) throw new AppError(409, 'conflict', 'No identity provider is set up.')
      const found = await upstream(configuration(chosen))
      const tokens = await upstream(
        client.authorizationCodeGrant(found, new URL(`${redirectUri()}?${facts.search}`), {
          pkceCodeVerifier: entry.verifier,
          expectedState: entry.state,
          expectedNonce: entry.nonce,
          idTokenExpected: true,
        }),
      )
      const claims = Claims.safeParse({ ...(await profileOf(found, tokens)) })
      if (!claims.success) throw forbidden('The identity provider did not vouch for your e-mail address.', 'not_allowed')
      return { profile: { email: claims.data.email, picture: claims.data.picture ?? null }, returnTo: entry.returnTo }
    },
  }

  /** Some providers put the e-mail into the ID token, others only into the answer of their userinfo endpoint. */
  async function profileOf(
    found: client.Configuration,
    tokens: Awaited<ReturnType<typeof client.authorizationCodeGrant>>,
  ): Promise<object> {
    const claims = tokens.claims()
    if (claims?.email !== undefined || !found.serverMetadata().userinfo_endpoint || !claims) return claims ?? {}
    return { ...claims, ...(await upstream(client.fetchUserInfo(found, tokens.access_token, claims.sub))) }
  }
}
