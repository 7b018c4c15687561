/** A chunk whose vector is near another; `similarity` is the cosine. */
export interface Near {
  seq: number
  similarity: number
}

/** Keeps the `k` most similar of what it is offered. */
export function createNearest(k: number) {
  const found: Near[] = []
  return {
    /** What something must pass to be kept. */
    floor: Number.NEGATIVE_INFINITY,
    offer(seq: number, similarity: number): void {
      if (similarity <= this.floor) return
      let place = found.length
      while (place > 0 && (found[place - 1] as Near).similarity < similarity) place -= 1
      found.splice(place, 0, { seq, similarity })
      if (found.length > k) found.pop()
      if (found.length === k) this.floor = (found[k - 1] as Near).similarity
    },
    /** Most similar first. */
    list: (): Near[] => found,
  }
}
