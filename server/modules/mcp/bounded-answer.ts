import { setImmediate as nextTurn } from 'node:timers/promises'

const MAX_BYTES = 4 * 1024 * 1024
/** Of values in lists and objects, each of which costs the reader; and how deep they lie in each other. */
const MAX_VALUES = 40_000
const MAX_DEPTH = 200
/** Of a stream of events. Whoever listens for longer asks anew. */
const MAX_LINES = 4_000
/** So many are handed on in one piece: each may be a message that takes its time. */
const LINES_AT_ONCE = 16

const [NEWLINE, QUOTE, BACKSLASH, COMMA] = [...'\n"\\,'].map((sign) => sign.charCodeAt(0))
const OPENING = new Set([...'{['].map((sign) => sign.charCodeAt(0)))
const CLOSING = new Set([...'}]'].map((sign) => sign.charCodeAt(0)))

/** Counts what JSON is made of, in pieces cut anywhere; an end of a line ends a text, which has none in it. */
function createCounter() {
  let isText = false
  let isEscaped = false
  let depth = 0
  let values = 0

  function countInText(byte: number): void {
    if (isEscaped) isEscaped = false
    else if (byte === BACKSLASH) isEscaped = true
    else if (byte === QUOTE) isText = false
  }

  return {
    count(byte: number): void {
      if (byte === NEWLINE) {
        isText = false
        isEscaped = false
      } else if (isText) countInText(byte)
      else if (byte === QUOTE) isText = true
      else if (byte === COMMA) values += 1
      else if (OPENING.has(byte)) {
        values += 1
        depth += 1
      } else if (CLOSING.has(byte)) depth = Math.max(0, depth - 1)
    },
    isTooMuch: () => values > MAX_VALUES || depth > MAX_DEPTH,
  }
}

const tooLarge = () => new Error('The answer is too large.')

/**
 * The body of a foreign answer, which fails where reading it would hold up everybody else: by its bytes, by how many values it has, or by
 * the events of a stream, which are let through a few at a time.
 */
export async function* boundedAnswer(body: AsyncIterable<Uint8Array>, isStream: boolean): AsyncGenerator<Uint8Array, void, undefined> {
  const counter = createCounter()
  let bytes = 0
  let lines = 0
  for await (const chunk of body) {
    bytes += chunk.byteLength
    if (bytes > MAX_BYTES) throw tooLarge()
    let begin = 0
    for (let at = 0; at < chunk.length; at += 1) {
      const byte = chunk[at] as number
      counter.count(byte)
      if (!isStream || byte !== NEWLINE) continue
      lines += 1
      if (counter.isTooMuch() || lines > MAX_LINES) throw tooLarge()
      if (lines % LINES_AT_ONCE > 0) continue
      yield chunk.subarray(begin, at + 1)
      begin = at + 1
      await nextTurn()
    }
    if (counter.isTooMuch()) throw tooLarge()
    yield chunk.subarray(begin)
  }
}
