import { tokenize } from './tokens.ts'

/*
 * Our own, since no well-kept library reads such templates in JavaScript: `[optional]`, `(one|other)`, `{type:slot}`, `{slot=value}`,
 * `<rule>`, `word[s]`. A template becomes a small automaton over words.
 */

type Leaf = { kind: 'word'; word: string } | { kind: 'slot'; type: string; as: string } | { kind: 'put'; as: string; value: string }
type Node = Leaf | { kind: 'all'; parts: Node[] } | { kind: 'any'; parts: Node[] }

/** A step of an automaton; `next` is the number of the step behind it. */
export type Step = (Leaf & { next: number }) | { kind: 'any'; nexts: number[] } | { kind: 'end' }

export interface Program {
  steps: Step[]
  start: number
  /** One of these words is in every sentence that fits; null where none must be. */
  needs: ReadonlySet<string> | null
  /** How many slots take any words. */
  open: number
}

/** Slots that take any words: few, some, or as many as there are. */
export const OPEN_TYPES: ReadonlySet<string> = new Set(['short', 'text', 'long'])
const MAX_DEPTH = 12
const PIECE = /\s+|[()[\]|]|\{([a-z_]+)(?::([a-zA-Z_]+)|=([^}]*))?\}|<([a-z_]+)>|[^\s()[\]|{}<>]+/gy

interface Piece {
  text: string
  node?: Node
  rule?: string
}

function piecesOf(template: string): Piece[] {
  const pieces: Piece[] = []
  PIECE.lastIndex = 0
  while (PIECE.lastIndex < template.length) {
    const at = PIECE.lastIndex
    const found = PIECE.exec(template)
    if (!found) throw new Error(`The template ${JSON.stringify(template)} cannot be read from character ${at}`)
    const [text, type, as, value, rule] = found
    if (text.trim() === '') continue
    if (rule !== undefined) pieces.push({ text, rule })
    else if (type !== undefined && value !== undefined) pieces.push({ text, node: { kind: 'put', as: type, value } })
    else if (type !== undefined) pieces.push({ text, node: { kind: 'slot', type, as: as ?? type } })
    else pieces.push({ text })
  }
  return pieces
}

/** Reads templates with the rules and contractions of a language. */
export function createTemplates(rules: Readonly<Record<string, string>>, expansions: ReadonlyMap<string, readonly string[]>) {
  const known = new Map<string, Node>()

  function ruleNode(name: string, depth: number): Node {
    const ready = known.get(name)
    if (ready) return ready
    const template = rules[name]
    if (template === undefined) throw new Error(`There is no rule <${name}>`)
    const node = parse(template, depth + 1)
    known.set(name, node)
    return node
  }

  function parse(template: string, depth = 0): Node {
    if (depth > MAX_DEPTH) throw new Error(`The rules around ${JSON.stringify(template)} run in a circle`)
    const pieces = piecesOf(template.replaceAll(/([\p{L}']+)\[([\p{L}']+)\]/gu, '($1|$1$2)'))
    let at = 0

    function choice(close: string | null): Node {
      const ways: Node[] = []
      let parts: Node[] = []
      for (; at < pieces.length; at++) {
        const { text, node, rule } = pieces[at] as Piece
        if (node) parts.push(node)
        else if (rule) parts.push(ruleNode(rule, depth))
        else if (text === '(' || text === '[') {
          at++
          const inner = choice(text === '(' ? ')' : ']')
          parts.push(text === '(' ? inner : { kind: 'any', parts: [inner, { kind: 'all', parts: [] }] })
        } else if (text === '|') {
          ways.push({ kind: 'all', parts })
          parts = []
        } else if (text === ')' || text === ']') {
          if (text !== close) throw new Error(`A bracket is closed that was not opened in ${JSON.stringify(template)}`)
          break
        } else for (const { word } of tokenize(text, expansions).tokens) parts.push({ kind: 'word', word })
      }
      if (close && at >= pieces.length) throw new Error(`A bracket is not closed in ${JSON.stringify(template)}`)
      ways.push({ kind: 'all', parts })
      return ways.length === 1 ? (ways[0] as Node) : { kind: 'any', parts: ways }
    }
    return choice(null)
  }

  return {
    compile(template: string): Program {
      const root = parse(template)
      const steps: Step[] = [{ kind: 'end' }]
      const start = link(root, 0, steps)
      return { steps, start, needs: needsOf(root), open: openIn(root) }
    },
  }
}

function link(node: Node, next: number, steps: Step[]): number {
  if (node.kind === 'all') return node.parts.reduceRight((after, part) => link(part, after, steps), next)
  if (node.kind === 'any') return steps.push({ kind: 'any', nexts: node.parts.map((part) => link(part, next, steps)) }) - 1
  return steps.push({ ...node, next }) - 1
}

/** What is computed of a part once, since rules stand in many templates. */
function once<Value>(compute: (node: Node) => Value): (node: Node) => Value {
  const known = new WeakMap<Node, { value: Value }>()
  return (node) => {
    const ready = known.get(node) ?? { value: compute(node) }
    known.set(node, ready)
    return ready.value
  }
}

/** Short words stand in many sentences, which makes them a poor index. */
const weight = (words: ReadonlySet<string>) => words.size - Math.min(...[...words].map((word) => word.length)) / 4

/** Of the parts that must be there, the one that can be said in the fewest words. */
const needsOf: (node: Node) => ReadonlySet<string> | null = once((node) => {
  if (node.kind === 'word') return new Set([node.word])
  if (node.kind !== 'all' && node.kind !== 'any') return null
  const each = node.parts.map(needsOf)
  if (node.kind === 'any') return each.includes(null) ? null : new Set(each.flatMap((words) => [...(words ?? [])]))
  return each.filter((words) => words !== null).toSorted((a, b) => weight(a) - weight(b))[0] ?? null
})

const openIn: (node: Node) => number = once((node) => {
  if (node.kind === 'slot') return OPEN_TYPES.has(node.type) ? 1 : 0
  if (node.kind === 'all') return node.parts.reduce((sum, part) => sum + openIn(part), 0)
  return node.kind === 'any' ? Math.max(0, ...node.parts.map(openIn)) : 0
})
