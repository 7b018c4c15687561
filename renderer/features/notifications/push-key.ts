/** Whether two keys are the same, byte by byte; a browser that does not tell its key counts as having another. */
export function isSameKey(known: ArrayBuffer | null | undefined, wanted: Uint8Array): boolean {
  if (!known || known.byteLength !== wanted.byteLength) return false
  return new Uint8Array(known).every((byte, at) => byte === wanted[at])
}

/** The bytes of a key in base64url. */
export function keyBytes(text: string): Uint8Array<ArrayBuffer> {
  const binary = atob(text.replaceAll('-', '+').replaceAll('_', '/'))
  return Uint8Array.from(binary, (sign) => sign.charCodeAt(0))
}
