import type { Household, Person } from '../household/household.contract.ts'
import { dayInWords } from './day-in-words.ts'
import type { Chunk, MemoryEntry } from './memory.contract.ts'

/** About so many characters are a token. */
const CHARACTERS_PER_TOKEN = 4
export const BLOCK_TOKENS = 1_200
const MAX_ENTRY = 900
/** Less of an entry is not worth its line. */
const LEAST_ENTRY = 40

export interface BlockContext {
  household: Household
  persons: Person[]
  facts?: MemoryEntry[]
  now?: Date
}

/** One line without markup, for what stands outside of a quotation. */
const oneLine = (text: string): string =>
  text
    .replaceAll(/\s+/g, ' ')
    .trim()
    .replaceAll(/[\\`*_{}[\]()<>#|~!]/g, '\\$&')

/** Every line marked, so that nothing in a remembered text can pass for anything but what it is. */
const quotation = (text: string, indent: string): string =>
  text
    .trim()
    .split(/\r\n|[\n\r\v\f\u0085\u2028\u2029]/)
    .map((line) => `${indent}> ${line}`.trimEnd())
    .join('\n')

function cut(text: string, length: number): string {
  const trimmed = text.trim()
  return trimmed.length <= length
    ? trimmed
    : `${trimmed
        .slice(0, length - 1)
        .toWellFormed()
        .replace(/\uFFFD$/, '')
        .trimEnd()}…`
}

/** The text under its title, where that says something of its own. */
const wordsOfChunk = ({ title, content }: Chunk) => (content.includes(title.replace(/…$/, '')) ? content : `${title}\n${content}`)

/** What is remembered as a Markdown block of at most about 1,200 tokens: by whose it is, dated, and quoted. Empty where there is nothing. */
export function memoryBlock(chunks: readonly Chunk[], { household, persons, facts = [], now }: BlockContext): string {
  let left = BLOCK_TOKENS * CHARACTERS_PER_TOKEN
  const groups = new Map<string, string[]>()
  const put = (group: string, entry: string): void => {
    groups.set(group, [...(groups.get(group) ?? []), entry])
    left -= entry.length + 1
  }
  const nameOf = (personId: string | null) => {
    if (personId === null) return oneLine(household.displayName)
    return oneLine(persons.find(({ id }) => id === personId)?.displayName ?? 'Somebody who has moved out')
  }
  const tell = (chunk: Chunk): boolean => {
    const head = `- ${dayInWords(chunk.observedAt, household, now)}, ${oneLine(chunk.category)}:`
    const room = Math.min(MAX_ENTRY, left - head.length - LEAST_ENTRY)
    if (room < LEAST_ENTRY) return false
    put(`Memory of ${nameOf(chunk.personId)}`, `${head}\n${quotation(cut(wordsOfChunk(chunk), room), '  ')}`)
    return true
  }
  // what is always to be told comes before facts that only may bear on it
  const first = facts.length > 0 ? chunks.filter(({ promoted }) => promoted) : []
  first.every(tell)
  for (const { category, key, value } of facts) {
    if (left < LEAST_ENTRY * 2) break
    put('Facts of the household', `- ${oneLine(category)}, ${oneLine(key)}:\n${quotation(cut(value, Math.min(MAX_ENTRY, left)), '  ')}`)
  }
  chunks.filter((chunk) => !first.includes(chunk)).every(tell)
  return [...groups].map(([group, entries]) => `### ${group}\n\n${entries.join('\n')}`).join('\n\n')
}
