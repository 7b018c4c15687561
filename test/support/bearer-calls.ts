import { expect } from 'vitest'
import type { House } from './house.ts'

/** An endpoint that every good token may read. */
export const PROTECTED = '/api/chat/conversations'

export type Claims = Record<string, unknown>

/** The payload of an access token, unverified. */
export const claimsOf = (token: string): Claims => JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()) as Claims

export const statusOf = async (house: House, token: string): Promise<number> => (await house.bearer(token).fetch(PROTECTED)).status

export async function expectRefused(house: House, token: string, about: string): Promise<void> {
  const answer = await house.bearer(token).fetch(PROTECTED)
  expect(answer.status, about).toBe(401)
  expect(await answer.json(), about).toEqual({ error: 'Unauthorized' })
}

export const refresh = (house: House, token: string): Promise<Response> =>
  house.bearer(token).fetch('/api/auth/refresh', { method: 'POST' })

/** The pair that a refresh token is good for. */
export async function refreshed(house: House, token: string): Promise<{ accessToken: string; refreshToken: string; expiresIn: number }> {
  const answer = await refresh(house, token)
  expect(answer.status).toBe(200)
  return answer.json()
}
