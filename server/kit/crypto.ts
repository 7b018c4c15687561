import { createCipheriv, createDecipheriv, createHash, createHmac, hkdfSync, randomBytes, randomInt, timingSafeEqual } from 'node:crypto'

/** SHA-256 in hex; how every random credential is kept. */
export const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')

/** 256 random bits in base64url. */
export const randomToken = (): string => randomBytes(32).toString('base64url')

/** Equality in constant time over digests, so that lengths do not tell either. */
export function sameSecret(given: string, expected: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest()
  return timingSafeEqual(digest(given), digest(expected))
}

/** HMAC-SHA-256 in base64url. */
export const sign = (text: string, secret: string): string => createHmac('sha256', secret).update(text).digest('base64url')

/** `length` random characters of `alphabet`, without bias. */
export const randomCode = (length: number, alphabet: string): string =>
  Array.from({ length }, () => alphabet[randomInt(alphabet.length)]).join('')

const keyFrom = (token: string) => Buffer.from(hkdfSync('sha256', token, '', 'hearth sealed successor', 32))

/** Encrypts `text` under a key derived from `token`: `iv.tag.data` in base64url (AES-256-GCM). */
export function sealWith(token: string, text: string): string {
  const iv = randomBytes(12)
  const cipher = createCipheriv('aes-256-gcm', keyFrom(token), iv, { authTagLength: 16 })
  const data = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()])
  return [iv, cipher.getAuthTag(), data].map((part) => part.toString('base64url')).join('.')
}

/** Undoes {@link sealWith}; throws when the token or the text is not the same. */
export function unsealWith(token: string, sealed: string): string {
  const [iv, tag, data] = sealed.split('.').map((part) => Buffer.from(part, 'base64url'))
  if (!iv || !tag || !data) throw new Error('Not a sealed text')
  const decipher = createDecipheriv('aes-256-gcm', keyFrom(token), iv, { authTagLength: 16 })
  decipher.setAuthTag(tag)
  return Buffer.concat([decipher.update(data), decipher.final()]).toString('utf8')
}
