import { once } from 'node:events'
import type { Writable } from 'node:stream'

/** Writes as fast as the reader reads, and ends; a reader who leaves in the middle ends it too, which is no fault. */
export async function writePieces(out: Writable, pieces: AsyncIterable<string>, left: AbortSignal): Promise<void> {
  for await (const piece of pieces) {
    if (left.aborted) return
    if (!out.write(piece)) await once(out, 'drain', { signal: left }).catch(() => undefined) // left meanwhile
  }
  out.end()
}
