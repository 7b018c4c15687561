import { totalmem } from 'node:os'
import type { Logger } from '../../kit/log.ts'
import { startLlamaChild } from './llama/llama-child.ts'
import type { MemoryNeed } from './memory-need.ts'
import type { Fit, ModelKind } from './models.contract.ts'

export interface MachineFacts {
  memoryBytes: number
  freeBytes: number
  gpu: string | null
  gpuBytes: number | null
}

/** The computer this runs on, as far as models are concerned. */
export interface Machine {
  facts(): Promise<MachineFacts>
}

type Graphics = Pick<MachineFacts, 'gpu' | 'gpuBytes'>

const NO_GRAPHICS: Graphics = { gpu: null, gpuBytes: null }
/** A graphics driver that takes longer than this to answer is left alone. */
const DESCRIBE_MS = 15_000

/** Where a container may use less than there is, that counts. */
function memoryBytes(): number {
  const allowed = process.constrainedMemory()
  return allowed > 0 && allowed < totalmem() ? allowed : totalmem()
}

async function describeGraphics(log: Logger): Promise<Graphics> {
  const { promise, resolve } = Promise.withResolvers<Graphics>()
  const child = startLlamaChild(log, (news) => {
    if (news.type === 'described') resolve({ gpu: news.gpu, gpuBytes: news.gpuBytes })
    else if (news.type === 'load-failed') resolve(NO_GRAPHICS)
  })
  const silent = setTimeout(() => resolve(NO_GRAPHICS), DESCRIBE_MS)
  void child.exited.then(() => resolve(NO_GRAPHICS))
  child.send({ type: 'describe' })
  try {
    return await promise
  } finally {
    clearTimeout(silent)
    child.kill()
  }
}

/** Asks a process for the graphics memory once, and only where graphics may be used: its driver is native code. */
export function createMachine(gpu: 'auto' | false, log: Logger): Machine {
  let graphics: Promise<Graphics> | undefined
  return {
    async facts() {
      graphics ??= gpu === false ? Promise.resolve(NO_GRAPHICS) : describeGraphics(log)
      const free = Math.min(process.availableMemory(), memoryBytes())
      return { memoryBytes: memoryBytes(), freeBytes: free, ...(await graphics) }
    },
  }
}

/** Of the whole memory, which other programs need too, and of the graphics memory, which is the model's alone. */
const SHARE = { well: 0.6, tight: 0.85, graphics: 0.9 }
/** Without graphics memory every word reads the whole model from main memory: a larger one answers, but slowly. */
const QUICK_BYTES: Record<ModelKind, number> = { chat: 3_000_000_000, embedding: 350_000_000 }

/** How a model sits in memory; `freed` is what the one it would replace gives back. */
export function fitOf({ usual, least }: MemoryNeed, machine: MachineFacts, freed = 0): Fit {
  if (machine.gpuBytes !== null && usual <= machine.gpuBytes * SHARE.graphics) return 'well'
  if (usual <= machine.memoryBytes * SHARE.well && usual <= machine.freeBytes + freed) return 'well'
  return least <= machine.memoryBytes * SHARE.tight ? 'tight' : 'no'
}

interface Candidate {
  id: string
  kind: ModelKind
  sizeBytes: number
  fit: Fit
}

/** Of each kind the last that sits well and answers quickly; candidates come from the plainest to the best. */
export function recommendedOf(candidates: readonly Candidate[], machine: MachineFacts): Set<string> {
  const quick = ({ kind, sizeBytes }: Candidate) =>
    machine.gpuBytes !== null && sizeBytes < machine.gpuBytes ? true : sizeBytes <= QUICK_BYTES[kind]
  const best = (kind: ModelKind) => candidates.findLast((one) => one.kind === kind && one.fit === 'well' && quick(one))
  return new Set([best('chat'), best('embedding')].flatMap((one) => (one ? [one.id] : [])))
}
