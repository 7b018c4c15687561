import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto'

const LOG2_N = 15
const BLOCK = 8
const PARALLEL = 1
const BYTES = 32
/** scrypt needs 128 · N · r bytes; Node refuses over 32 MiB unless told. */
const MAX_MEMORY = 128 * 2 ** 17 * BLOCK

function derive(password: string, salt: Buffer, log2N: number, r: number, p: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    scrypt(password.normalize('NFKC'), salt, BYTES, { N: 2 ** log2N, r, p, maxmem: MAX_MEMORY }, (error, key) =>
      error ? reject(error) : resolve(key),
    )
  })
}

/** Hashes a password with scrypt off the main thread (about 60 ms): `scrypt$<log2 N>$<r>$<p>$<salt>$<hash>`. */
export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(16)
  const hash = await derive(password, salt, LOG2_N, BLOCK, PARALLEL)
  return ['scrypt', LOG2_N, BLOCK, PARALLEL, salt.toString('base64url'), hash.toString('base64url')].join('$')
}

/** Whether `password` has this hash; takes as long where there is none, so that nobody learns that by waiting. */
export async function verifyPassword(password: string, stored: string | null): Promise<boolean> {
  const [, log2N, r, p, salt, hash] = (stored ?? '').split('$')
  if (!salt || !hash) {
    await derive(password, Buffer.alloc(16), LOG2_N, BLOCK, PARALLEL)
    return false
  }
  const expected = Buffer.from(hash, 'base64url')
  const given = await derive(password, Buffer.from(salt, 'base64url'), Number(log2N), Number(r), Number(p))
  return given.length === expected.length && timingSafeEqual(given, expected)
}
