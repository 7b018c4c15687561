import { distance } from 'fastest-levenshtein'

/** The part of a name that may be misspelt. */
const MAX_DISTANCE = 0.25
const MAX_LENGTH = 300

const plain = (text: string): string =>
  text
    .slice(0, MAX_LENGTH)
    .normalize('NFKD')
    .replaceAll(/\p{M}/gu, '')
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]+/gu, ' ')
    .trim()
    .replace(/^(?:(?:the|my|our|your|a|an|some) )+/, '')

/**
 * The one that somebody means by `wanted`: of that very name, else the shortest that has it in its name, else the one whose name is
 * spelt nearly so. The first of equals; null when none is near.
 */
export function closest<T>(wanted: string, items: readonly T[], nameOf: (item: T) => string): T | null {
  const verbatim = items.find((item) => nameOf(item).trim() === wanted.trim())
  const sought = plain(wanted)
  if (verbatim !== undefined || sought === '') return verbatim ?? null
  const named = items.map((item) => ({ item, name: plain(nameOf(item)) }))
  const least = (found: { item: T; cost: number }[]): T | null =>
    found.reduce<{ item: T; cost: number } | null>((best, one) => (best && best.cost <= one.cost ? best : one), null)?.item ?? null
  const same = named.find(({ name }) => name === sought)
  if (same) return same.item
  const holding = named.filter(({ name }) => ` ${name}`.includes(` ${sought}`)).map(({ item, name }) => ({ item, cost: name.length }))
  if (holding.length > 0) return least(holding)
  const near = named.map(({ item, name }) => ({ item, cost: distance(sought, name) / Math.max(sought.length, name.length) }))
  return least(near.filter(({ cost }) => cost <= MAX_DISTANCE))
}
