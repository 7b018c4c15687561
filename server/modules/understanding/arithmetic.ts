import type { Language } from './language.ts'
import type { NumberReader } from './numbers.ts'
import { createPhraseSet, createPhrases } from './phrases.ts'
import { fold } from './tokens.ts'

/*
 * Our own: a general library for mathematics takes most of a second and a hundred megabytes to load, which no question about 15 % may cost.
 * Six operators on numbers, nothing that could reach outside or run long.
 */

type Lexeme = { kind: 'number'; value: number } | { kind: 'operator'; sign: string }

const LEXEME = /\s+|(\d+(?:[.,]\d+)*|[½¼¾€$£¥]|\p{L}[\p{L}\p{M}'’]*|[-+*/^()%√×·÷−–:=?])/guy
const SAME: Record<string, string> = { '×': '*', '·': '*', x: '*', '÷': '/', ':': '/', '−': '-', '–': '-', '√': 'sqrt' }
const SIGNS = new Set(['+', '-', '*', '/', '^', '(', ')', '%', 'sqrt', 'of', '^2', '^3'])
const MAX_LENGTH = 200

export interface Calculation {
  expression: string
  /** Not finite where it is divided by zero. */
  result: number
}

/** Reads and computes what is a calculation from the first word to the last. */
export function createArithmetic({ words }: Pick<Language, 'words'>, numbers: NumberReader) {
  const operators = createPhrases(Object.entries(words.operators))
  const asks = createPhraseSet(words.asksForResult)
  const money = new Set([...words.money.map(fold), '€', '$', '£', '¥'])

  function split(text: string): string[] | null {
    const found: string[] = []
    LEXEME.lastIndex = 0
    while (LEXEME.lastIndex < text.length) {
      const match = LEXEME.exec(text)
      if (!match) return null
      if (match[1] && match[1] !== '?' && match[1] !== '=') found.push(fold(match[1]))
    }
    return found
  }

  function lexemes(parts: readonly string[]): Lexeme[] | null {
    const found: Lexeme[] = []
    for (let at = 0; at < parts.length; ) {
      const part = parts[at] as string
      const sign = SAME[part] ?? part
      const phrase = operators.at(parts, at)
      const number = phrase ? null : numbers.at(parts, at)
      if (money.has(part)) at++
      else if (phrase) {
        for (const operator of phrase.value.split(' ')) {
          found.push(SIGNS.has(operator) ? { kind: 'operator', sign: operator } : { kind: 'number', value: Number(operator) })
        }
        at = phrase.end
      } else if (number) {
        found.push({ kind: 'number', value: number.value })
        at = number.end
      } else if (SIGNS.has(sign)) {
        found.push({ kind: 'operator', sign })
        at++
      } else return null
    }
    return found
  }

  return {
    read(text: string): Calculation | null {
      if (text.length > MAX_LENGTH || !/[\d\p{L}]/u.test(text)) return null
      const parts = split(text)
      if (!parts) return null
      const found = lexemes(parts.slice(asks.at(parts, 0)?.end ?? 0))
      if (!found?.some(({ kind }) => kind === 'operator') || !found.some(({ kind }) => kind === 'number')) return null
      const result = compute(found)
      const isByZero = found.some(({ kind }, at) => kind === 'number' && isZeroBehindDivision(found, at))
      if (result === null || (!Number.isFinite(result) && !isByZero)) return null
      return { expression: found.map((lexeme) => (lexeme.kind === 'number' ? String(lexeme.value) : lexeme.sign)).join(' '), result }
    },
  }
}

function isZeroBehindDivision(lexemes: readonly Lexeme[], at: number): boolean {
  const [before, lexeme] = [lexemes[at - 1], lexemes[at]]
  return lexeme?.kind === 'number' && lexeme.value === 0 && before?.kind === 'operator' && before.sign === '/'
}

interface Part {
  value: number
  /** As in `80 + 10 %`, where it is a share of what stands before. */
  percent: boolean
}

/** Null where it is no whole expression. */
function compute(lexemes: readonly Lexeme[]): number | null {
  let at = 0
  const sign = () => {
    const lexeme = lexemes[at]
    return lexeme?.kind === 'operator' ? lexeme.sign : null
  }

  function atom(): Part | null {
    const lexeme = lexemes[at]
    if (!lexeme) return null
    at++
    if (lexeme.kind === 'number') return { value: lexeme.value, percent: false }
    if (lexeme.sign === '(') {
      const inner = sum()
      if (inner === null || sign() !== ')') return null
      at++
      return { value: inner, percent: false }
    }
    if (lexeme.sign === '-' || lexeme.sign === 'sqrt') {
      const inner = power()
      return inner && { ...inner, value: lexeme.sign === '-' ? -inner.value : Math.sqrt(inner.value) }
    }
    return null
  }

  function power(): Part | null {
    let base = atom()
    while (base) {
      const operator = sign()
      if (operator === '^2' || operator === '^3') {
        at++
        base = { value: base.value ** Number(operator[1]), percent: false }
      } else if (operator === '%') {
        at++
        base = { value: base.value / 100, percent: true }
      } else if (operator === '^') {
        at++
        const exponent = power()
        return exponent && { value: base.value ** exponent.value, percent: false }
      } else break
    }
    return base
  }

  function product(): Part | null {
    const first = power()
    if (!first) return null
    let { value, percent } = first
    for (let operator = sign(); operator === '*' || operator === '/' || operator === 'of'; operator = sign()) {
      at++
      const next = power()
      if (!next) return null
      value = operator === '/' ? value / next.value : value * next.value
      percent = false
    }
    return { value, percent }
  }

  function sum(): number | null {
    const first = product()
    if (!first) return null
    let total = first.value
    for (let operator = sign(); operator === '+' || operator === '-'; operator = sign()) {
      at++
      const next = product()
      if (!next) return null
      const amount = next.percent ? total * next.value : next.value
      total += operator === '+' ? amount : -amount
    }
    return total
  }

  const result = sum()
  return at === lexemes.length ? result : null
}
