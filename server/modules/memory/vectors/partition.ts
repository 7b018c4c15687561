import { createExactVectors, type ExactVectors } from './exact-vectors.ts'
import { type HnswGraph, SEARCH_WIDTH } from './hnsw-library.ts'
import { createNearest, type Near } from './nearest.ts'

export interface GraphLimits {
  /** From so many vectors on a graph is quicker than looking at every one. */
  graphFrom: number
  /** So many changes may stand beside a graph before a new one is made. */
  renewFrom: number
}

export type Partition = ReturnType<typeof createPartition>

/**
 * The vectors of one owner's memory: a graph of how they were when it was made, never changed here, and beside it what was added,
 * changed and removed since. With few vectors there is no graph.
 */
export function createPartition({ graphFrom, renewFrom }: GraphLimits) {
  let beside: ExactVectors | null = null
  let graph: HnswGraph | null = null
  /** What the graph has and must not be found through it, and when that came to be. */
  const gone = new Map<number, number>()
  let mark = 0

  function searchGraph(query: Float32Array, k: number): Near[] {
    if (!graph || query.length !== graph.getNumDimensions()) return []
    graph.setEf(Math.max(SEARCH_WIDTH, k))
    const filter = gone.size > 0 ? (seq: number) => !gone.has(seq) : undefined
    const { neighbors, distances } = graph.searchKnn(Array.from(query), Math.min(k, graph.getCurrentCount()), filter)
    return neighbors.map((seq, place) => ({ seq, similarity: 1 - (distances[place] as number) }))
  }

  return {
    /** Whether it could take the vector; those of another length cannot be compared with the others. */
    add(seq: number, vector: Float32Array): boolean {
      beside ??= createExactVectors(vector.length)
      if (beside.dimensions !== vector.length) return false
      beside.set(seq, vector, mark)
      if (graph) gone.set(seq, mark)
      return true
    },

    remove(seq: number): void {
      beside?.remove(seq)
      if (graph || mark > 0) gone.set(seq, mark)
    },

    async nearest(query: Float32Array, k: number): Promise<Near[]> {
      const found = searchGraph(query, k)
      if (!beside || beside.size() === 0 || beside.dimensions !== query.length) return found
      const near = createNearest(k)
      for (const { seq, similarity } of found) near.offer(seq, similarity)
      for (const { seq, similarity } of await beside.search(query, k)) near.offer(seq, similarity)
      // what was removed while the others were looked at
      return near.list().filter(({ seq }) => !gone.has(seq) || beside?.has(seq))
    },

    wantsGraph: (): boolean => {
      const waiting = beside?.size() ?? 0
      return graph ? waiting + gone.size >= 2 * renewFrom : waiting >= graphFrom
    },

    hasGraph: () => graph !== null,

    /** From now on changes are newer than the graph that is about to be made; answers when that was, and what changed before. */
    beginGraph(): { from: number; changed: number[] } {
      mark += 1
      return { from: mark, changed: [...new Set([...(beside?.seqs() ?? []), ...gone.keys()])] }
    },

    /** Takes a graph that holds all that was there when it was begun; answers the one that it replaces. */
    useGraph(made: HnswGraph, from: number): HnswGraph | null {
      const before = graph
      graph = made
      beside?.removeBefore(from)
      for (const [seq, when] of gone) if (when < from) gone.delete(seq)
      for (const seq of beside?.seqs() ?? []) gone.set(seq, mark)
      return before
    },
  }
}
