const isSame = (a: unknown, b: unknown) => JSON.stringify(a) === JSON.stringify(b)

/** The fields of `now` that are otherwise than in `before`. */
export function differing<T extends object>(before: T, now: T): Partial<T> {
  const keys = (Object.keys(now) as (keyof T)[]).filter((key) => !isSame(before[key], now[key]))
  return Object.fromEntries(keys.map((key) => [key, now[key]])) as Partial<T>
}

/**
 * What comes of it when something was changed here and elsewhere since it was `before`: fields that only `theirs` changed are
 * taken, those that both changed, and not to the same, clash.
 */
export function meeting<T extends object>(before: T, mine: T, theirs: T): { taken: (keyof T)[]; clashing: (keyof T)[] } {
  const changed = Object.keys(differing(before, theirs)) as (keyof T)[]
  return {
    taken: changed.filter((key) => isSame(mine[key], before[key])),
    clashing: changed.filter((key) => !isSame(mine[key], before[key]) && !isSame(mine[key], theirs[key])),
  }
}
