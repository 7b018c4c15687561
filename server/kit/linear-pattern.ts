import { type PatternEdge, type PatternNode, type PatternTree, readPattern } from './pattern-syntax.ts'

/** What matching may still cost, in steps of about the same time; shared by all patterns that one value is checked against. */
export interface Steps {
  left: number
}

/** Matching would have cost more than there was left. */
export class OutOfSteps extends Error {
  constructor() {
    super('Matching takes too many steps')
    this.name = 'OutOfSteps'
  }
}

/** Looks for a pattern in texts, in time that grows with the text alone. */
export interface LinearPattern {
  /** Of its machine, which is built when it is first asked for. */
  size: number
  /** Throws {@link OutOfSteps}. */
  test(text: string, steps: Steps): boolean
}

/** Of the machine of one pattern, repetitions written out. */
const MAX_SIZE = 4_000
const MAX_LOOKS = 6
/** Of what is remembered of a pattern, so that it is not worked out again; with more it begins anew at the next text. */
const MAX_KNOWN_OPS = 20_000
const MAX_KNOWN_POINTS = 2_000
/**
 * Steps that things take: to build an op, to compile a class, to see what a new sign is, to find a new way and to look at an op for that, to
 * go on by a sign at an edge of the text, and anywhere where it matters what stands around it.
 */
const COST = { build: 4, class: 800, sign: 40, way: 40, op: 6, edge: 3, place: 12 }
/** So many signs that are known go through the machine in one step. */
const SIGNS_A_STEP = 8

type Op =
  | { kind: 'atom'; atom: number; next: number }
  | { kind: 'split'; next: number; other: number }
  | { kind: 'edge'; edge: PatternEdge; next: number }
  | { kind: 'look'; look: number; next: number }
  | { kind: 'match' }

/** Ops in which a text is walked through, from `start` on. */
interface Program {
  ops: Op[]
  start: number
}

interface Look extends Program {
  isBehind: boolean
  isNegative: boolean
}

/** How many ops a node becomes, and how many looks there are in it. */
function sizeOf(node: PatternNode): { ops: number; looks: number } {
  if (node.kind === 'atom' || node.kind === 'edge') return { ops: 1, looks: 0 }
  if (node.kind === 'look') {
    const { ops, looks } = sizeOf(node.body)
    return { ops: ops + 2, looks: looks + 1 }
  }
  if (node.kind === 'repeat') {
    const { ops, looks } = sizeOf(node.body)
    const times = node.max === Number.POSITIVE_INFINITY ? node.min + 1 : node.max
    return { ops: times * (ops + 1), looks: times * looks }
  }
  const sizes = (node.kind === 'choice' ? node.options : node.parts).map(sizeOf)
  return sizes.reduce((sum, { ops, looks }) => ({ ops: sum.ops + ops, looks: sum.looks + looks }), { ops: sizes.length, looks: 0 })
}

function compile(root: PatternNode): { main: Program; looks: Look[] } {
  const looks: Look[] = []

  /** With `isBackward` for a text that is walked through from its end. */
  function programOf(node: PatternNode, isBackward: boolean): Program {
    const ops: Op[] = [{ kind: 'match' }]
    const put = (op: Op): number => ops.push(op) - 1

    function repeat({ body, min, max }: PatternNode & { kind: 'repeat' }, next: number): number {
      let at = next
      if (max === Number.POSITIVE_INFINITY) {
        const loop = put({ kind: 'split', next, other: next })
        ops[loop] = { kind: 'split', next: emit(body, loop), other: next }
        at = loop
      } else for (let optional = max - min; optional > 0; optional -= 1) at = put({ kind: 'split', next: emit(body, at), other: next })
      for (let needed = min; needed > 0; needed -= 1) at = emit(body, at)
      return at
    }

    /** Where one has to begin to get through `node` to `next`. */
    function emit(node: PatternNode, next: number): number {
      if (node.kind === 'atom') return put({ kind: 'atom', atom: node.atom, next })
      if (node.kind === 'edge') return put({ kind: 'edge', edge: node.edge, next })
      if (node.kind === 'repeat') return repeat(node, next)
      if (node.kind === 'choice')
        return node.options.map((option) => emit(option, next)).reduceRight((other, first) => put({ kind: 'split', next: first, other }))
      if (node.kind === 'sequence')
        return isBackward
          ? node.parts.reduce((after, part) => emit(part, after), next)
          : node.parts.reduceRight((after, part) => emit(part, after), next)
      looks.push({ ...programOf(node.body, !node.isBehind), isBehind: node.isBehind, isNegative: node.isNegative })
      return put({ kind: 'look', look: looks.length - 1, next })
    }

    const start = emit(node, 0)
    return { ops, start }
  }

  return { main: programOf(root, false), looks }
}

/** A set of places in a program that one may be at, and where each sign leads from there. */
interface Stand {
  at: readonly number[]
  /** By the sign that comes and what is true of the place. */
  ways: Map<number, Way>
  /** The same by the sign alone, within the text and where nothing is found yet. */
  inside: (Stand | undefined)[]
}

interface Way {
  isMatch: boolean
  to: Stand
}

/** What is true of a place in the text, in bits; those of the looks follow. */
const AT_START = 1
const AT_END = 2
const AT_WORD = 4
const EDGE_BITS = 3
const EDGE_TRUE: Record<PatternEdge, (place: number) => boolean> = {
  start: (place) => (place & AT_START) !== 0,
  end: (place) => (place & AT_END) !== 0,
  word: (place) => (place & AT_WORD) !== 0,
  'no-word': (place) => (place & AT_WORD) === 0,
}

/** Walks through a program in all ways at once, remembering what it found out. */
function createWalker({ ops, start }: Program, fits: (sign: number, atom: number) => boolean) {
  const known = new Map<string, Stand>()
  let knownOps = 0
  const seen = new Int32Array(ops.length)
  let round = 0

  function standOf(at: number[]): Stand {
    const name = at.join()
    const stand = known.get(name) ?? { at, ways: new Map(), inside: [] }
    if (!known.has(name)) {
      knownOps += at.length + 1
      known.set(name, stand)
    }
    return stand
  }

  function isPassed(op: Op & { kind: 'edge' | 'look' }, place: number): boolean {
    return op.kind === 'edge' ? EDGE_TRUE[op.edge](place) : (place & (1 << (EDGE_BITS + op.look))) !== 0
  }

  function find(stand: Stand, sign: number, place: number, steps: Steps): Way {
    round += 1
    const left = [...stand.at, start]
    const next = new Set<number>()
    let isMatch = false
    steps.left -= COST.way
    for (let at = left.pop(); at !== undefined; at = left.pop()) {
      if (seen[at] === round) continue
      seen[at] = round
      steps.left -= COST.op
      const op = ops[at] as Op
      if (op.kind === 'match') isMatch = true
      else if (op.kind === 'split') left.push(op.other, op.next)
      else if (op.kind === 'atom') {
        if (sign >= 0 && fits(sign, op.atom)) next.add(op.next)
      } else if (isPassed(op, place)) left.push(op.next)
    }
    steps.left -= 3 * COST.op * next.size // to sort and to name them
    return { isMatch, to: standOf([...next].sort((a, b) => a - b)) }
  }

  return {
    begin: standOf([]),
    known: () => knownOps,
    step(stand: Stand, sign: number, place: number, steps: Steps, cost: number): Way {
      const key = ((sign + 1) << (EDGE_BITS + MAX_LOOKS)) | place
      let way = stand.ways.get(key)
      steps.left -= cost
      if (steps.left < 0) throw new OutOfSteps()
      if (!way) {
        way = find(stand, sign, place, steps)
        knownOps += 1
        stand.ways.set(key, way)
        if (place === 0 && !way.isMatch) stand.inside[sign] = way.to
      }
      return way
    },
  }
}

const WORD = /^\w$/

/** The signs of a text by kind: those that the pattern cannot tell apart are of one. */
function createSigns(atoms: readonly string[]) {
  const tests: (RegExp | undefined)[] = []
  const kinds = new Map<string, number>()
  const fitting: boolean[][] = []
  const isWord: boolean[] = []
  const known = new Map<number, number>()
  const knownAscii = new Int32Array(128).fill(-1)

  function fits(sign: string, atom: number, steps: Steps): boolean {
    const source = atoms[atom] as string
    steps.left -= 1
    if (source.length <= 2 && !source.startsWith('\\') && source !== '.') return sign === source
    if (!tests[atom]) {
      steps.left -= COST.class
      tests[atom] = new RegExp(`^${source}$`, 'u')
    }
    if (steps.left < 0) throw new OutOfSteps()
    return (tests[atom] as RegExp).test(sign)
  }

  function kindOf(point: number, steps: Steps): number {
    const before = point < 128 ? knownAscii[point] : known.get(point)
    if (before !== undefined && before >= 0) return before
    steps.left -= COST.sign
    if (steps.left < 0) throw new OutOfSteps()
    const sign = String.fromCodePoint(point)
    const fit = atoms.map((_, atom) => fits(sign, atom, steps))
    const name = `${WORD.test(sign)}${fit.map(Number).join('')}`
    const kind = kinds.get(name) ?? fitting.length
    if (kind === fitting.length) {
      kinds.set(name, kind)
      fitting.push(fit)
      isWord.push(WORD.test(sign))
    }
    if (known.size >= MAX_KNOWN_POINTS) known.clear()
    if (point < 128) knownAscii[point] = kind
    else known.set(point, kind)
    return kind
  }

  return {
    kindOf,
    /** Of the first 128 signs; below zero where that is not known yet. */
    knownAscii,
    fits: (kind: number, atom: number) => fitting[kind]?.[atom] === true,
    isWord: (kind: number | undefined) => kind !== undefined && isWord[kind] === true,
    of(text: string, steps: Steps): Int32Array {
      steps.left -= text.length * COST.op
      if (steps.left < 0) throw new OutOfSteps()
      const signs = new Int32Array(text.length)
      let length = 0
      for (let at = 0; at < text.length; length += 1) {
        const point = text.codePointAt(at) as number
        signs[length] = kindOf(point, steps)
        at += point > 0xffff ? 2 : 1
      }
      return signs.subarray(0, length)
    },
  }
}

/**
 * Makes a pattern that comes from elsewhere safe to look for: it is walked through in all ways at once instead of one after the other, so
 * that none takes longer for the number of ways. Null for what `readPattern` does not read, and what is too large written out.
 */
export function linearPattern(pattern: string): LinearPattern | null {
  const tree = readPattern(pattern)
  if (!tree) return null
  const { ops, looks } = sizeOf(tree.root)
  if (ops > MAX_SIZE || looks > MAX_LOOKS) return null
  let machine: ReturnType<typeof createMachine> | undefined
  return {
    size: ops,
    test(text, steps) {
      if (!machine || machine.known() > MAX_KNOWN_OPS) {
        steps.left -= ops * COST.build
        machine = createMachine(tree)
      }
      return machine.test(text, steps)
    },
  }
}

function createMachine({ root, atoms }: PatternTree): Pick<LinearPattern, 'test'> & { known(): number } {
  const compiled = compile(root)
  const signsIn = createSigns(atoms)
  const main = createWalker(compiled.main, signsIn.fits)
  const looks = compiled.looks.map((look) => ({ ...look, walker: createWalker(look, signsIn.fits) }))

  function edgesAt(signs: Int32Array, at: number): number {
    const isBorder = signsIn.isWord(signs[at - 1]) !== signsIn.isWord(signs[at])
    return (at === 0 ? AT_START : 0) | (at === signs.length ? AT_END : 0) | (isBorder ? AT_WORD : 0)
  }

  /** What is true at each place; a look may ask for those before it. */
  function placesOf(signs: Int32Array, steps: Steps): Int32Array {
    const places = Int32Array.from({ length: signs.length + 1 }, (_, at) => edgesAt(signs, at))
    for (const [number, { walker, isBehind, isNegative }] of looks.entries()) {
      const found = new Uint8Array(places.length)
      let stand = walker.begin
      for (let count = 0; count < places.length; count += 1) {
        const at = isBehind ? count : signs.length - count
        const way = walker.step(stand, signs[isBehind ? at : at - 1] ?? -1, places[at] as number, steps, COST.place)
        found[at] = Number(way.isMatch !== isNegative)
        stand = way.to
      }
      for (let at = 0; at < places.length; at += 1) places[at] = (places[at] as number) | ((found[at] as number) << (EDGE_BITS + number))
    }
    return places
  }

  function testByPlaces(text: string, steps: Steps): boolean {
    const signs = signsIn.of(text, steps)
    const places = placesOf(signs, steps)
    let stand = main.begin
    for (let at = 0; at <= signs.length; at += 1) {
      const way = main.step(stand, signs[at] ?? -1, places[at] as number, steps, COST.place)
      if (way.isMatch) return true
      stand = way.to
    }
    return false
  }

  /** For a pattern to which it does not matter what stands around a sign, but where the text begins and ends. */
  function testBySigns(text: string, steps: Steps): boolean {
    steps.left -= Math.ceil(text.length / SIGNS_A_STEP)
    const { knownAscii, kindOf } = signsIn
    let stand = main.begin
    for (let at = 0; at <= text.length; ) {
      const code = text.charCodeAt(at)
      const quick = at > 0 && code < 128 ? stand.inside[knownAscii[code] as number] : undefined
      if (quick) {
        stand = quick
        at += 1
        continue
      }
      const point = text.codePointAt(at)
      const place = (at === 0 ? AT_START : 0) | (at === text.length ? AT_END : 0)
      const way = main.step(stand, point === undefined ? -1 : kindOf(point, steps), place, steps, COST.edge)
      if (way.isMatch) return true
      stand = way.to
      at += point !== undefined && point > 0xffff ? 2 : 1
    }
    return false
  }

  const hasPlaces = compiled.main.ops.some(
    (op) => op.kind === 'look' || (op.kind === 'edge' && (op.edge === 'word' || op.edge === 'no-word')),
  )
  const walkers = [main, ...looks.map(({ walker }) => walker)]
  return {
    test: hasPlaces ? testByPlaces : testBySigns,
    known: () => walkers.reduce((sum, { known }) => sum + known(), 0),
  }
}
