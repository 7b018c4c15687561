import { createPace } from '../../../kit/pace.ts'
import { createNearest, type Near } from './nearest.ts'

/** Vectors that grow block by block, so that no large one is ever copied. */
const BLOCK = 1_024

export type ExactVectors = ReturnType<typeof createExactVectors>

/** Vectors of unit length in memory, searched one by one: exact, and quick enough for some thousands. */
export function createExactVectors(dimensions: number) {
  const pace = createPace()
  const blocks: Float32Array[] = []
  const seqs: number[] = []
  /** When each was put here, as its owner counts. */
  const marks: number[] = []
  const slots = new Map<number, number>()

  const at = (slot: number): Float32Array => {
    const start = (slot % BLOCK) * dimensions
    return (blocks[Math.floor(slot / BLOCK)] as Float32Array).subarray(start, start + dimensions)
  }

  function remove(seq: number): void {
    const slot = slots.get(seq)
    if (slot === undefined) return
    const last = seqs.length - 1
    if (slot !== last) {
      at(slot).set(at(last))
      seqs[slot] = seqs[last] as number
      marks[slot] = marks[last] as number
      slots.set(seqs[slot] as number, slot)
    }
    slots.delete(seq)
    seqs.pop()
    marks.pop()
    if (blocks.length > Math.ceil(seqs.length / BLOCK) + 1) blocks.pop()
  }

  function scanBlock(index: number, query: Float32Array, offer: ReturnType<typeof createNearest>): void {
    const block = blocks[index]
    if (!block) return
    const first = index * BLOCK
    const count = Math.min(BLOCK, seqs.length - first)
    for (let row = 0, place = 0; row < count; row++) {
      let a = 0
      let b = 0
      let c = 0
      let d = 0
      let column = 0
      for (; column + 3 < dimensions; column += 4, place += 4) {
        a += (block[place] as number) * (query[column] as number)
        b += (block[place + 1] as number) * (query[column + 1] as number)
        c += (block[place + 2] as number) * (query[column + 2] as number)
        d += (block[place + 3] as number) * (query[column + 3] as number)
      }
      for (; column < dimensions; column++, place++) a += (block[place] as number) * (query[column] as number)
      const similarity = a + b + c + d
      if (similarity > offer.floor) offer.offer(seqs[first + row] as number, similarity)
    }
  }

  return {
    dimensions,
    size: () => seqs.length,
    has: (seq: number) => slots.has(seq),
    set(seq: number, vector: Float32Array, mark: number): void {
      const slot = slots.get(seq) ?? seqs.length
      if (slot === blocks.length * BLOCK) blocks.push(new Float32Array(BLOCK * dimensions))
      at(slot).set(vector)
      seqs[slot] = seq
      marks[slot] = mark
      slots.set(seq, slot)
    },
    remove,
    seqs: (): readonly number[] => seqs,
    /** Removes what was put here before `mark`. */
    removeBefore(mark: number): void {
      for (let slot = seqs.length - 1; slot >= 0; slot--) if ((marks[slot] as number) < mark) remove(seqs[slot] as number)
    },
    async search(query: Float32Array, k: number): Promise<Near[]> {
      const nearest = createNearest(k)
      for (let index = 0; index * BLOCK < seqs.length; index++) {
        await pace()
        scanBlock(index, query, nearest)
      }
      return nearest.list().filter(({ seq }) => slots.has(seq))
    },
  }
}
