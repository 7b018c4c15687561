import type HnswLib from 'hnswlib-node'

export type Hnsw = typeof HnswLib
export type HnswGraph = InstanceType<Hnsw['HierarchicalNSW']>

/** Links of a point, and how many neighbours are looked at when it is added; the library's own and its benchmarks' values. */
export const GRAPH = { links: 16, construction: 200 }
/** How many neighbours a search looks at: with 120 a hundredth of the ten nearest among 30,000 was missed. */
export const SEARCH_WIDTH = 120

/** Loads the library that searches large numbers of vectors; null where it was not built for this machine. */
export async function loadHnsw(): Promise<Hnsw | null> {
  try {
    return (await import('hnswlib-node')).default
  } catch {
    return null
  }
}
