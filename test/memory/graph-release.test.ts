import { readdirSync } from 'node:fs'
import { expect, test } from 'vitest'
import { releaseGraph } from '../../server/modules/memory/vectors/graph-maker.ts'
import { loadHnsw } from '../../server/modules/memory/vectors/hnsw-library.ts'
import { dataRoot } from '../support/process.ts'

test('a graph that is released holds nothing any more, and leaves no file', async () => {
  using root = dataRoot()
  const hnsw = await loadHnsw()
  if (!hnsw) throw new Error('The library that searches vectors is not built here.')
  const graph = new hnsw.HierarchicalNSW('ip', 4)
  graph.initIndex(10)
  for (let label = 0; label < 10; label++) graph.addPoint([label, 1, 0, 0], label)
  await releaseGraph(graph, root.path)
  expect(graph.getCurrentCount()).toBe(0)
  expect(readdirSync(root.path)).toEqual([])
})
