import { createECDH } from 'node:crypto'
import type { Secrets } from '../../secrets.ts'

export interface VapidKeysDeps {
  secrets: Secrets
  publicUrl(): string | null
}

export type VapidKeys = ReturnType<typeof createVapidKeys>

/** The key pair by which push services and browsers know this Hearth (RFC 8292); made when it is first asked for. */
export function createVapidKeys({ secrets, publicUrl }: VapidKeysDeps) {
  function privateKey(): string {
    const known = secrets.get('VAPID_PRIVATE_KEY')
    if (known !== undefined) return known
    const pair = createECDH('prime256v1')
    pair.generateKeys()
    const made = Buffer.from(pair.getPrivateKey('hex').padStart(64, '0'), 'hex').toString('base64url')
    secrets.set({ VAPID_PRIVATE_KEY: made })
    return made
  }

  function publicKeyOf(key: string): string {
    const pair = createECDH('prime256v1')
    pair.setPrivateKey(key, 'base64url')
    return pair.getPublicKey('base64url')
  }

  return {
    publicKey: (): string => publicKeyOf(privateKey()),

    /** What signs a message, with an address of whom a push service may ask; Apple refuses addresses of the home network there. */
    signer(): { publicKey: string; privateKey: string; subject: string } {
      const key = privateKey()
      const address = publicUrl()
      return {
        privateKey: key,
        publicKey: publicKeyOf(key),
        subject: address?.startsWith('https:') ? address : 'mailto:hearth@example.com',
      }
    },
  }
}
