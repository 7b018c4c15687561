import { readFile } from 'node:fs/promises'
import { endianness } from 'node:os'
import { join } from 'node:path'

/**
 * The file (little-endian): `HWV1`, dimensions, words, slots as 32-bit integers; then a hash table of `slots` pairs (check, index
 * from 1, 0 for an empty slot); then for each word, the most frequent first, its unit vector as 8-bit integers of 1/254.
 */
const MAGIC = Buffer.from('HWV1').readUInt32LE()
const SCALE = 254
const HEADER_BYTES = 16

/** Place and check of a word in the hash table: FNV-1a over its UTF-16 units from two starts. */
export function wordHashes(word: string): [place: number, check: number] {
  let place = 0x811c9dc5
  let check = 0x1b873593
  for (let at = 0; at < word.length; at++) {
    const unit = word.charCodeAt(at)
    place = Math.imul(place ^ unit, 0x01000193)
    check = Math.imul(check ^ unit, 0x01000193) ^ (check >>> 15)
  }
  return [place >>> 0, check | 0]
}

export interface WordVectors {
  dimensions: number
  /** The word's rank by frequency, from 0; -1 for a word that is not there. */
  find(word: string): number
  /** Share of running English text that is the word of this rank, by Zipf's law. */
  frequency(rank: number): number
  /** Cosine of the vectors of two ranks. */
  similarity(a: number, b: number): number
  /** Adds the vector of a rank, times `weight`, onto `sum`. */
  addTo(sum: Float32Array, rank: number, weight: number): void
}

/** The sum of 1/rank over all words of the language. */
const HARMONIC = Math.log(400_000) + 0.58

async function load(path: string): Promise<WordVectors> {
  const file = await readFile(path)
  if (endianness() !== 'LE') throw new Error('Word vectors are stored little-endian, and this machine is not')
  const bytes = file.byteOffset % 4 === 0 ? file : Buffer.from(new Uint8Array(file))
  if (bytes.length < HEADER_BYTES) throw new Error(`${path} is no file of word vectors`)
  const [magic, dimensions = 0, words = 0, slots = 0] = new Uint32Array(bytes.buffer, bytes.byteOffset, 4)
  if (magic !== MAGIC || bytes.length !== HEADER_BYTES + slots * 8 + words * dimensions)
    throw new Error(`${path} is no file of word vectors`)
  const table = new Int32Array(bytes.buffer, bytes.byteOffset + HEADER_BYTES, slots * 2)
  const vectors = new Int8Array(bytes.buffer, bytes.byteOffset + HEADER_BYTES + slots * 8, words * dimensions)

  return {
    dimensions,
    find(word) {
      const [place, check] = wordHashes(word)
      for (let tried = 0, slot = place % slots; tried < slots; tried++, slot = (slot + 1) % slots) {
        const index = table[slot * 2 + 1] ?? 0
        if (index <= 0 || index > words) return -1
        if (table[slot * 2] === check) return index - 1
      }
      return -1
    },
    frequency: (rank) => 1 / (((rank < 0 ? words : rank) + 1) * HARMONIC),
    similarity(a, b) {
      let product = 0
      for (let left = a * dimensions, right = b * dimensions, end = left + dimensions; left < end; left++, right++) {
        product = (product + Math.imul(vectors[left] as number, vectors[right] as number)) | 0
      }
      return product / (SCALE * SCALE)
    },
    addTo(sum, rank, weight) {
      for (let at = 0, from = rank * dimensions; at < dimensions; at++) {
        sum[at] = (sum[at] as number) + ((vectors[from + at] as number) * weight) / SCALE
      }
    },
  }
}

/** Knows no word: everything is told apart by its letters alone. */
const NO_WORDS: WordVectors = {
  dimensions: 0,
  find: () => -1,
  frequency: () => 1e-5,
  similarity: () => 0,
  addTo: () => undefined,
}
const TRY_AGAIN_MS = 60_000

const opened = new Map<string, Promise<WordVectors>>()

/** The vectors that ship in the resources: read when they are first wanted, once for all who want them. */
export function loadWordVectors(resourcesPath: string): Promise<WordVectors> {
  const path = join(resourcesPath, 'memory', 'words.bin')
  const loading =
    opened.get(path) ??
    load(path).catch((error: unknown) => {
      opened.delete(path)
      throw error
    })
  opened.set(path, loading)
  return loading
}

const unreadable = new Map<string, { until: number }>()

/**
 * The same, or where they cannot be read vectors that know no word, so that ranking goes on by the words themselves. The first failure is
 * told, and reading is tried again after a while. Not for embedding: what is embedded without them would stay so.
 */
export async function wordVectorsOrNone(resourcesPath: string, onFault: (error: unknown) => void): Promise<WordVectors> {
  const failed = unreadable.get(resourcesPath)
  if (failed && performance.now() < failed.until) return NO_WORDS
  try {
    const vectors = await loadWordVectors(resourcesPath)
    unreadable.delete(resourcesPath)
    return vectors
  } catch (error) {
    if (!unreadable.has(resourcesPath)) onFault(error)
    unreadable.set(resourcesPath, { until: performance.now() + TRY_AGAIN_MS })
    return NO_WORDS
  }
}
