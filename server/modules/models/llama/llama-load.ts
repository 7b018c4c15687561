import { availableParallelism } from 'node:os'
import {
  getLlama,
  type Llama,
  LlamaChatSession,
  type LlamaContext,
  type LlamaContextSequence,
  LlamaLogLevel,
  type LlamaModel,
  type Token,
} from 'node-llama-cpp'
import type { LoadOrder } from './llama-protocol.ts'
import type { Slot } from './llama-slots.ts'

export interface LlamaSlot extends Slot<Token> {
  sequence: LlamaContextSequence
  session: LlamaChatSession
}

export interface LoadedLlama {
  llama: Llama
  model: LlamaModel
  context: LlamaContext
  slots: readonly LlamaSlot[]
}

/** Leaves a core to the rest of the house: where one thread has to wait for a core, all of them wait for it, spinning. */
export const threadsOf = (llama: Llama, wanted: number | null) =>
  wanted ?? Math.max(1, Math.min(llama.cpuMathCores, availableParallelism() - 1))

function slotOf(context: LlamaContext): LlamaSlot {
  const sequence = context.getSequence()
  return {
    sequence,
    session: new LlamaChatSession({ contextSequence: sequence }),
    conversationId: null,
    busy: false,
    lastUse: 0,
    sharedPrefix: (prompt) => sequence.compareContextTokens([...prompt]).firstDifferentIndex,
  }
}

/** The native library; `onLog` receives its warnings, which name what is wrong with a file. */
export const openLlama = (gpu: 'auto' | false, onLog: (line: string) => void): Promise<Llama> =>
  getLlama({
    gpu,
    build: 'never',
    skipDownload: true,
    progressLogs: false,
    maxThreads: 0,
    logLevel: LlamaLogLevel.warn,
    logger: (_level, line) => onLog(line),
  })

/** Loads a GGUF file. */
export async function loadLlama(order: LoadOrder, onLog: (line: string) => void): Promise<LoadedLlama> {
  const llama = await openLlama(order.gpu, onLog)
  const model = await llama.loadModel({ modelPath: order.path })
  const context = await model.createContext({
    sequences: order.slots,
    contextSize: { max: Math.min(order.contextTokens, model.trainContextSize) },
    threads: threadsOf(llama, order.threads),
  })
  return { llama, model, context, slots: Array.from({ length: order.slots }, () => slotOf(context)) }
}
