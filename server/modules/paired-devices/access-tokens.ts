import { jwtVerify, SignJWT } from 'jose'
import { z } from 'zod'
import { DeviceType, Scope } from './paired-devices.contract.ts'

/** Exactly the specification's payload; `iat` and `exp` are the format's own. */
export const AccessClaims = z.object({
  deviceId: z.string(),
  userId: z.string(),
  deviceType: DeviceType,
  sessionId: z.string(),
  scope: Scope,
})
export type AccessClaims = z.output<typeof AccessClaims>

const Stamps = z.object({ iat: z.number(), exp: z.number() })
const MAX_KNOWN = 5_000
/** A version 1 token lives 365 days; nothing that was ever given out lives longer. */
const LONGEST_SECONDS = 366 * 86_400
const CLOCK_SKEW_SECONDS = 5

export type AccessTokens = ReturnType<typeof createAccessTokens>

/** Signs and verifies access tokens (JWT, HS256). `secret` may change when this Hearth is set up. */
export function createAccessTokens(secret: () => string | undefined) {
  const key = () => {
    const value = secret()
    if (!value) throw new Error('There is no SERVICE_JWT_SECRET to sign with')
    return new TextEncoder().encode(value)
  }
  /** Verified tokens until they end: verifying costs more than the rest of a small request together. */
  const known = new Map<string, { claims: AccessClaims; endsAt: number }>()

  async function verify(token: string): Promise<AccessClaims | null> {
    try {
      const { payload } = await jwtVerify(token, key(), { algorithms: ['HS256'], requiredClaims: ['iat', 'exp'] })
      const { iat, exp } = Stamps.parse(payload)
      if (iat > Date.now() / 1000 + CLOCK_SKEW_SECONDS || exp - iat > LONGEST_SECONDS) return null
      const claims = AccessClaims.parse(payload)
      if (known.size >= MAX_KNOWN) known.delete(known.keys().next().value as string)
      known.set(token, { claims, endsAt: exp * 1000 })
      return claims
    } catch {
      return null // whatever is wrong with a token, its bearer learns only that it is not good
    }
  }

  return {
    /** `lifetimeSec` in seconds from now. */
    sign(claims: AccessClaims, lifetimeSec: number): Promise<string> {
      const now = Math.floor(Date.now() / 1000)
      return new SignJWT({ ...claims })
        .setProtectedHeader({ alg: 'HS256', typ: 'JWT' })
        .setIssuedAt(now)
        .setExpirationTime(now + lifetimeSec)
        .sign(key())
    },

    /** The claims of a good token, at once where it was seen before; null for any other. Says nothing about revocation. */
    read(token: string): AccessClaims | null | Promise<AccessClaims | null> {
      const seen = known.get(token)
      if (!seen) return verify(token)
      if (seen.endsAt > Date.now()) return seen.claims
      known.delete(token)
      return null
    },
  }
}
