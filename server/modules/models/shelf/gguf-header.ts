import { type FileHandle, open } from 'node:fs/promises'

/** What a GGUF file says of itself before its weights begin. */
export interface GgufHeader {
  architecture: string
  /** As its makers call it. */
  title: string | null
  contextTokens: number | null
  blocks: number | null
  dimensions: number | null
  /** Numbers and short texts of the header, by key. */
  facts: ReadonlyMap<string, string | number | boolean>
}

/** The file is no GGUF model, or not a whole one; the message says so in plain words. */
export class GgufFault extends Error {}

/** The largest vocabulary there is takes a tenth of it. */
const MOST_HEADER_BYTES = 128 * 1024 * 1024
const MOST_ENTRIES = 10_000
const MOST_KEY_BYTES = 1024
/** Longer texts, such as chat templates, are stepped over. */
const MOST_TEXT_BYTES = 4096
const SLICE_BYTES = 512 * 1024
const TEXT = 8
const ARRAY = 9
/** Bytes of the value types that have a fixed size, by their number in the file. */
const SIZES: Record<number, number> = { 0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 4, 6: 4, 7: 1, 10: 8, 11: 8, 12: 8 }

const notGguf = () => new GgufFault('The file is not a GGUF model.')
const damaged = () => new GgufFault('The model file is damaged or incomplete.')

/** Reads forward through a file in slices, so that neither a large header nor a hostile one holds up the loop or fills the memory. */
function createCursor(file: FileHandle, fileBytes: number) {
  let slice = Buffer.alloc(0)
  /** Where the slice lies in the file, and how far in it the reader is. */
  let base = 0
  let at = 0

  const take = async (bytes: number): Promise<Buffer> => {
    if (base + at + bytes > Math.min(fileBytes, MOST_HEADER_BYTES)) throw damaged()
    if (at + bytes > slice.length) {
      base += at
      at = 0
      const wanted = Buffer.alloc(Math.min(Math.max(SLICE_BYTES, bytes), fileBytes - base))
      const { bytesRead } = await file.read(wanted, 0, wanted.length, base)
      if (bytesRead < bytes) throw damaged()
      slice = wanted.subarray(0, bytesRead)
    }
    at += bytes
    return slice.subarray(at - bytes, at)
  }

  const skip = (bytes: number) => {
    if (base + at + bytes > Math.min(fileBytes, MOST_HEADER_BYTES)) throw damaged()
    if (at + bytes <= slice.length) at += bytes
    else {
      base += at + bytes
      at = 0
      slice = Buffer.alloc(0)
    }
  }

  const length = async (): Promise<number> => {
    const value = (await take(8)).readBigUInt64LE()
    if (value > BigInt(MOST_HEADER_BYTES)) throw damaged()
    return Number(value)
  }

  return {
    take,
    skip,
    /** How far in the file the reader is. */
    place: () => base + at,
    length,
    /** Steps over texts that lie in the present slice without a promise for each. */
    async skipTexts(count: number): Promise<void> {
      for (let left = count; left > 0; left--) {
        if (at + 8 <= slice.length) {
          const bytes = slice.readUInt32LE(at)
          if (slice.readUInt32LE(at + 4) === 0 && at + 8 + bytes <= slice.length) {
            at += 8 + bytes
            continue
          }
        }
        skip(await length())
      }
    },
  }
}

/** Weights of the types of tensors lie in blocks: how many in each, and in how many bytes. As ggml has them; of other types only the beginning is known. */
const BLOCKS: Record<number, readonly [weights: number, bytes: number]> = {
  0: [1, 4],
  1: [1, 2],
  2: [32, 18],
  3: [32, 20],
  6: [32, 22],
  7: [32, 24],
  8: [32, 34],
  9: [32, 36],
  10: [256, 84],
  11: [256, 110],
  12: [256, 144],
  13: [256, 176],
  14: [256, 210],
  15: [256, 292],
  16: [256, 66],
  17: [256, 74],
  18: [256, 98],
  19: [256, 50],
  20: [32, 18],
  21: [256, 110],
  22: [256, 82],
  23: [256, 136],
  24: [1, 1],
  25: [1, 2],
  26: [1, 4],
  27: [1, 8],
  28: [1, 8],
  29: [256, 56],
  30: [1, 2],
  34: [256, 54],
  35: [256, 66],
  39: [32, 17],
  40: [64, 36],
  41: [128, 18],
}
const MOST_TENSORS = 100_000
const MOST_DIMENSIONS = 8
const USUAL_ALIGNMENT = 32

type Cursor = ReturnType<typeof createCursor>

function readFixed(type: number, bytes: Buffer): number | boolean {
  if (type === 0) return bytes.readUInt8()
  if (type === 1) return bytes.readInt8()
  if (type === 2) return bytes.readUInt16LE()
  if (type === 3) return bytes.readInt16LE()
  if (type === 4) return bytes.readUInt32LE()
  if (type === 5) return bytes.readInt32LE()
  if (type === 6) return bytes.readFloatLE()
  if (type === 7) return bytes.readUInt8() !== 0
  if (type === 12) return bytes.readDoubleLE()
  return Number(type === 10 ? bytes.readBigUInt64LE() : bytes.readBigInt64LE())
}

/** Of an array of numbers the largest, which is what an upper bound of the memory needs; of any other nothing. */
async function readArray(cursor: Cursor): Promise<number | undefined> {
  const type = (await cursor.take(4)).readUInt32LE()
  const count = await cursor.length()
  const size = SIZES[type]
  if (type === TEXT) return void (await cursor.skipTexts(count))
  if (size === undefined) throw damaged()
  if (count === 0 || count * size > MOST_TEXT_BYTES) return void cursor.skip(count * size)
  const bytes = await cursor.take(count * size)
  return Math.max(...Array.from({ length: count }, (_, at) => Number(readFixed(type, bytes.subarray(at * size, (at + 1) * size)))))
}

async function readValue(cursor: Cursor): Promise<string | number | boolean | undefined> {
  const type = (await cursor.take(4)).readUInt32LE()
  if (type === ARRAY) return readArray(cursor)
  if (type === TEXT) {
    const bytes = await cursor.length()
    return bytes <= MOST_TEXT_BYTES ? (await cursor.take(bytes)).toString('utf8') : void cursor.skip(bytes)
  }
  const size = SIZES[type]
  if (size === undefined) throw damaged()
  return readFixed(type, await cursor.take(size))
}

type Facts = Map<string, string | number | boolean>

/** Where the last tensor ends, from where the tensors begin. */
async function tensorsEnd(cursor: Cursor, count: number): Promise<number> {
  let end = 0
  for (let tensor = 0; tensor < count; tensor++) {
    cursor.skip(await cursor.length())
    const dimensions = (await cursor.take(4)).readUInt32LE()
    if (dimensions > MOST_DIMENSIONS) throw damaged()
    let weights = 1
    for (let dimension = 0; dimension < dimensions; dimension++) weights *= Number((await cursor.take(8)).readBigUInt64LE())
    const [each, bytes] = BLOCKS[(await cursor.take(4)).readUInt32LE()] ?? [1, 0]
    end = Math.max(end, Number((await cursor.take(8)).readBigUInt64LE()) + Math.floor(weights / each) * bytes)
  }
  return end
}

/** A copy that broke off has its header still: the weights it tells of have to be there. */
async function checkWhole(cursor: Cursor, tensors: number, facts: Facts, fileBytes: number): Promise<void> {
  const end = await tensorsEnd(cursor, tensors)
  const alignment = wholeNumber(facts.get('general.alignment')) ?? USUAL_ALIGNMENT
  if (tensors > 0 && Math.ceil(cursor.place() / alignment) * alignment + end > fileBytes) throw damaged()
}

async function readFacts(cursor: Cursor): Promise<{ facts: Facts; tensors: number }> {
  const version = (await cursor.take(4)).readUInt32LE()
  // 1 had other lengths and was never in use; a file of the other byte order has a huge number here
  if (version < 2 || version > 3) throw new GgufFault('This kind of model is not supported.')
  const tensors = await cursor.length()
  if (tensors > MOST_TENSORS) throw damaged()
  const entries = await cursor.length()
  if (entries > MOST_ENTRIES) throw damaged()
  const facts: Facts = new Map()
  for (let entry = 0; entry < entries; entry++) {
    const keyBytes = await cursor.length()
    if (keyBytes > MOST_KEY_BYTES) throw damaged()
    const key = (await cursor.take(keyBytes)).toString('utf8')
    const value = await readValue(cursor)
    if (value !== undefined) facts.set(key, value)
  }
  return { facts, tensors }
}

const wholeNumber = (value: unknown) => (typeof value === 'number' && Number.isSafeInteger(value) && value > 0 ? value : null)

/** Reads the header of a GGUF file. Throws {@link GgufFault}, and what the file system says. */
export async function readGgufHeader(path: string): Promise<GgufHeader> {
  const file = await open(path, 'r')
  try {
    const { size } = await file.stat()
    const cursor = createCursor(file, size)
    if (size < 24 || (await cursor.take(4)).toString('latin1') !== 'GGUF') throw notGguf()
    const { facts, tensors } = await readFacts(cursor)
    const architecture = facts.get('general.architecture')
    if (typeof architecture !== 'string') throw damaged()
    await checkWhole(cursor, tensors, facts, size)
    const title = facts.get('general.name')
    return {
      architecture: architecture.slice(0, 100),
      title: typeof title === 'string' ? title.slice(0, 200) : null,
      contextTokens: wholeNumber(facts.get(`${architecture}.context_length`)),
      blocks: wholeNumber(facts.get(`${architecture}.block_count`)),
      dimensions: wholeNumber(facts.get(`${architecture}.embedding_length`)),
      facts,
    }
  } finally {
    await file.close()
  }
}
