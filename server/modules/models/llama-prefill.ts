import type { LlamaContextSequence, Token } from 'node-llama-cpp'

const SMALLEST = 16
const LARGEST = 512
/** A slice that has begun cannot be stopped, so it must be over within this time. */
const SLICE_MS = 200

/** Evaluates prompts slice by slice, each as long as this machine manages in about 200 ms, so that a cancelled one soon stops. */
export interface Prefill {
  /** Leaves the last slice to the caller. Returns early when `signal` aborts. */
  run(sequence: LlamaContextSequence, prompt: readonly Token[], signal: AbortSignal): Promise<void>
  /** Evaluates to the very end. */
  runAll(sequence: LlamaContextSequence, prompt: readonly Token[], signal: AbortSignal): Promise<void>
}

export function createPrefill(): Prefill {
  let slice = 64

  const measured = (tokens: number, ms: number) => {
    const fitting = 2 ** Math.floor(Math.log2((tokens / ms) * SLICE_MS))
    // one slow slice may be another program's doing, so it goes down by one step at a time
    slice = Math.min(LARGEST, Math.max(SMALLEST, slice / 2, Math.min(fitting, slice * 2)))
  }

  const advance = async (sequence: LlamaContextSequence, prompt: readonly Token[], left: () => number, signal: AbortSignal) => {
    await sequence.adaptStateToTokens([...prompt], false)
    while (!signal.aborted && prompt.length - sequence.nextTokenIndex > left()) {
      const at = sequence.nextTokenIndex
      const part = prompt.slice(at, at + slice)
      const began = performance.now()
      await sequence.evaluateWithoutGeneratingNewTokens(part)
      if (part.length === slice) measured(part.length, performance.now() - began)
    }
  }

  return {
    run: (sequence, prompt, signal) => advance(sequence, prompt, () => slice, signal),
    runAll: (sequence, prompt, signal) => advance(sequence, prompt, () => 0, signal),
  }
}
