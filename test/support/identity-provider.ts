import type { IncomingMessage, ServerResponse } from 'node:http'
import { exportJWK, exportSPKI, generateKeyPair, type JWTPayload, SignJWT } from 'jose'
import Provider from 'oidc-provider'
import { type Endpoint, listen } from './listener.ts'

export const CLIENT = { id: 'hearth', secret: 'a client secret of the house' }

/** What `AUTH_IDP_*` says of a provider at this address. */
export const idpEnv = (issuer: string) => ({ AUTH_IDP_ISSUER: issuer, AUTH_IDP_ID: CLIENT.id, AUTH_IDP_SECRET: CLIENT.secret })

/** A real OpenID Connect provider; `redirectUri` may be told later, since a server's port is known once it runs. Any name signs in as `name@home.example`. */
export async function startRealProvider(): Promise<Endpoint & { serve(redirectUri: string): void }> {
  const endpoint = await listen((_req, res) => void res.writeHead(503).end())
  return Object.assign(endpoint, {
    serve(redirectUri: string) {
      const provider = new Provider(endpoint.url, {
        clients: [
          {
            client_id: CLIENT.id,
            client_secret: CLIENT.secret,
            redirect_uris: [redirectUri],
            response_types: ['code'],
            grant_types: ['authorization_code'],
          },
        ],
        features: { devInteractions: { enabled: true } },
        claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['picture'] },
        pkce: { required: () => true },
        cookies: { keys: ['only for this test'] },
        ttl: { Interaction: 60, Session: 60, Grant: 60, AccessToken: 60, IdToken: 60 },
        findAccount: (_ctx: unknown, id: string) => ({
          accountId: id,
          claims: () => ({ sub: id, email: `${id}@home.example`, email_verified: id !== 'unverified' }),
        }),
      })
      endpoint.handle = provider.callback()
    },
  })
}

export interface FakeProvider extends Endpoint {
  issuer: string
  /** What the token endpoint answers to a code. */
  tokens: Map<string, (form: URLSearchParams, res: ServerResponse) => void | Promise<void>>
  /** Answers in place of the discovery document. */
  discovery: ((res: ServerResponse) => void) | null
  /** An ID token of these claims, good unless told otherwise. */
  sign(claims: JWTPayload, header?: { alg?: string; kid?: string }, key?: CryptoKey | Uint8Array): Promise<string>
  strangersKey: CryptoKey
  publicPem: string
}

const sendJson = (res: ServerResponse, value: unknown) =>
  void res.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(value))

async function readForm(req: IncomingMessage): Promise<URLSearchParams> {
  let text = ''
  for await (const chunk of req) text += chunk
  return new URLSearchParams(text)
}

/** A provider that answers whatever a test wants, to see what is believed. */
export async function startFakeProvider(): Promise<FakeProvider> {
  const keys = await generateKeyPair('RS256')
  const stranger = await generateKeyPair('RS256')
  const jwk = { ...(await exportJWK(keys.publicKey)), kid: 'known', alg: 'RS256', use: 'sig' }
  const endpoint = await listen((req, res) => {
    const { pathname } = new URL(req.url ?? '/', fake.issuer)
    if (pathname === '/.well-known/openid-configuration') return fake.discovery ? fake.discovery(res) : sendJson(res, metadata(fake.issuer))
    if (pathname === '/jwks') return sendJson(res, { keys: [jwk] })
    if (pathname !== '/token') return void res.writeHead(404).end()
    void readForm(req).then((form) => (fake.tokens.get(form.get('code') ?? '') ?? refuse)(form, res))
  })
  const refuse = (_form: URLSearchParams, res: ServerResponse) =>
    void res.writeHead(400, { 'content-type': 'application/json' }).end('{"error":"invalid_grant"}')
  const fake: FakeProvider = Object.assign(endpoint, {
    issuer: endpoint.url,
    tokens: new Map(),
    discovery: null,
    sign: (claims: JWTPayload, header: { alg?: string; kid?: string } = {}, key: CryptoKey | Uint8Array = keys.privateKey) =>
      new SignJWT(claims).setProtectedHeader({ alg: 'RS256', kid: 'known', ...header }).sign(key),
    strangersKey: stranger.privateKey,
    publicPem: await exportSPKI(keys.publicKey),
  })
  return fake
}

const metadata = (issuer: string) => ({
  issuer,
  authorization_endpoint: `${issuer}/authorize`,
  token_endpoint: `${issuer}/token`,
  jwks_uri: `${issuer}/jwks`,
  response_types_supported: ['code'],
  subject_types_supported: ['public'],
  id_token_signing_alg_values_supported: ['RS256'],
  code_challenge_methods_supported: ['S256'],
  token_endpoint_auth_methods_supported: ['client_secret_post', 'client_secret_basic'],
})

/** The ID token answer of a token endpoint. */
export const tokenAnswer = (idToken: string | undefined) => (_form: URLSearchParams, res: ServerResponse) =>
  sendJson(res, {
    access_token: 'an access token of the provider',
    token_type: 'bearer',
    expires_in: 60,
    ...(idToken !== undefined && { id_token: idToken }),
  })
