/** A regular expression as a tree. Groups leave no trace: whether something matches is all that is asked of it. */
export type PatternNode =
  /** One code point; the number of its source in `atoms`. */
  | { kind: 'atom'; atom: number }
  | { kind: 'sequence'; parts: PatternNode[] }
  | { kind: 'choice'; options: PatternNode[] }
  | { kind: 'repeat'; body: PatternNode; min: number; max: number }
  | { kind: 'edge'; edge: PatternEdge }
  | { kind: 'look'; isBehind: boolean; isNegative: boolean; body: PatternNode }

/** Where something stands: at the beginning, at the end, where a word begins or ends, and where none does. */
export type PatternEdge = 'start' | 'end' | 'word' | 'no-word'

export interface PatternTree {
  root: PatternNode
  /** Each matches one code point: a sign, an escape, a class. */
  atoms: string[]
}

const ESCAPE = /\\u\{[^}]*\}|\\u[dD][89abAB]..\\u[dD][c-fC-F]..|\\u.{4}|\\x..|\\c.|\\[pP]\{[^}]*\}|\\[^1-9k]/sy
const CLASS = /\[(?:\\.|[^\]\\])*\]/suy
const REPEAT = /(?:[*+?]|\{(\d+)(,?)(\d*)\})\??/y
const LOOK = /\(\?(<?)([=!])/y
const GROUP = /\((?:\?:|\?<[^=!>]+>|(?!\?))/y
const EDGES: [string, PatternEdge][] = [
  ['^', 'start'],
  ['$', 'end'],
  ['\\b', 'word'],
  ['\\B', 'no-word'],
]

/**
 * Reads a pattern that `new RegExp(pattern, 'u')` takes. Null for what no machine without a memory decides (it refers back to what it
 * matched), or what is newer than this.
 */
export function readPattern(pattern: string): PatternTree | null {
  const atoms = new Map<string, number>()
  let at = 0

  function take(expression: RegExp): RegExpExecArray | null {
    expression.lastIndex = at
    const found = expression.exec(pattern)
    if (found) at = expression.lastIndex
    return found
  }

  function atom(source: string): PatternNode {
    const known = atoms.get(source) ?? atoms.size
    atoms.set(source, known)
    return { kind: 'atom', atom: known }
  }

  function readEdge(): PatternNode | null {
    const found = EDGES.find(([sign]) => pattern.startsWith(sign, at))
    if (!found) return null
    at += found[0].length
    return { kind: 'edge', edge: found[1] }
  }

  function readInner(): PatternNode | null {
    const body = readChoice()
    at += 1 // the bracket that closes it
    return body
  }

  function readOne(): PatternNode | null {
    const edge = readEdge()
    if (edge) return edge
    const look = take(LOOK)
    if (look) {
      const body = readInner()
      return body && { kind: 'look', isBehind: look[1] === '<', isNegative: look[2] === '!', body }
    }
    if (take(GROUP)) return readInner()
    const source = take(CLASS)?.[0] ?? take(ESCAPE)?.[0]
    if (source !== undefined) return atom(source)
    if (pattern[at] === '(' || pattern[at] === '\\') return null
    const sign = String.fromCodePoint(pattern.codePointAt(at) as number)
    at += sign.length
    return atom(sign)
  }

  function readRepeated(): PatternNode | null {
    const body = readOne()
    const found = body && take(REPEAT)
    if (!found) return body
    const [sign, least, comma, most] = found
    if (least === undefined)
      return { kind: 'repeat', body, min: sign[0] === '+' ? 1 : 0, max: sign[0] === '?' ? 1 : Number.POSITIVE_INFINITY }
    return { kind: 'repeat', body, min: Number(least), max: !comma ? Number(least) : most ? Number(most) : Number.POSITIVE_INFINITY }
  }

  function readSequence(): PatternNode | null {
    const parts: PatternNode[] = []
    while (at < pattern.length && pattern[at] !== '|' && pattern[at] !== ')') {
      const part = readRepeated()
      if (!part) return null
      parts.push(part)
    }
    return { kind: 'sequence', parts }
  }

  function readChoice(): PatternNode | null {
    const options: PatternNode[] = []
    for (;;) {
      const option = readSequence()
      if (!option) return null
      options.push(option)
      if (pattern[at] !== '|') return { kind: 'choice', options }
      at += 1
    }
  }

  const root = readChoice()
  return root && { root, atoms: [...atoms.keys()] }
}
