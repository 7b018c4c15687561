import { id, table, text, textOrNull } from '../../db/table.ts'

/** One row, whose id is the owner's person. */
export interface OwnerRow {
  id: string
  name: string
  email: string | null
  picture: string | null
  /** `scrypt$<log2 N>$<r>$<p>$<salt>$<hash>`, salt and hash in base64url. */
  passwordHash: string | null
  updatedAt: string
}
export const OwnerTable = table<OwnerRow>('owner', {
  id,
  name: text,
  email: textOrNull,
  picture: textOrNull,
  passwordHash: textOrNull,
  updatedAt: text,
})

export interface OwnerSessionRow {
  id: string
  /** SHA-256 of the random part of the cookie, in hex. */
  tokenHash: string
  createdAt: string
  lastSeenAt: string
  expiresAt: string
  address: string
  userAgent: string
}
export const OwnerSessionTable = table<OwnerSessionRow>('owner_session', {
  id,
  tokenHash: text,
  createdAt: text,
  lastSeenAt: text,
  expiresAt: text,
  address: text,
  userAgent: text,
})
