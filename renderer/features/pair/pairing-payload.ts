import type { z } from 'zod'
import { PairingLink } from '../../../server/modules/pairing/pairing.contract.ts'

export type PairingPayload = z.output<typeof PairingLink>

/** Reads the `d` of a pairing link, base64url of UTF-8 JSON; null where it is not whole. */
export function readPairingPayload(text: string): PairingPayload | null {
  try {
    const binary = atob(text.replaceAll('-', '+').replaceAll('_', '/'))
    const json = new TextDecoder('utf-8', { fatal: true }).decode(Uint8Array.from(binary, (char) => char.charCodeAt(0)))
    return PairingLink.safeParse(JSON.parse(json)).data ?? null
  } catch {
    return null
  }
}
