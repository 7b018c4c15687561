import type { LlamaContextSequence, Token } from 'node-llama-cpp'

/** What llama.cpp multiplies well on a CPU: smaller slices cost half as much again for each token, larger ones gain little. */
const GOOD_SLICE = 64
const LARGEST_SLICE = 512
const SMALLEST_SLICE = 16
/** A slice that has begun cannot be stopped, so a large one must be over within this time. */
const SLICE_MS = 200
/** Where even a good slice takes longer than this, waiting for it is worse than evaluating slowly. */
const TOO_LONG_MS = 1_000

/** Evaluates prompts slice by slice, each as long as suits this machine, so that a cancelled one soon stops and other replies go on. */
export interface Prefill {
  /** Leaves the last slice to the caller. Returns early when `signal` aborts. */
  run(sequence: LlamaContextSequence, prompt: readonly Token[], signal: AbortSignal): Promise<void>
  /** Evaluates to the very end. */
  runAll(sequence: LlamaContextSequence, prompt: readonly Token[], signal: AbortSignal): Promise<void>
}

/** The next slice after one of `tokens` took `ms`; twice as large at most, since one measurement may have been lucky. */
export function nextSlice(tokens: number, ms: number): number {
  const inTime = (SLICE_MS / ms) * tokens
  if (inTime >= GOOD_SLICE) return Math.min(LARGEST_SLICE, tokens * 2, 2 ** Math.floor(Math.log2(inTime)))
  return (ms / tokens) * GOOD_SLICE > TOO_LONG_MS ? SMALLEST_SLICE : GOOD_SLICE
}

export function createPrefill(): Prefill {
  let slice = GOOD_SLICE

  const advance = async (sequence: LlamaContextSequence, prompt: readonly Token[], left: () => number, signal: AbortSignal) => {
    await sequence.adaptStateToTokens([...prompt], false)
    while (!signal.aborted && prompt.length - sequence.nextTokenIndex > left()) {
      const at = sequence.nextTokenIndex
      const part = prompt.slice(at, at + slice)
      const began = performance.now()
      await sequence.evaluateWithoutGeneratingNewTokens(part)
      if (part.length === slice) slice = nextSlice(part.length, performance.now() - began)
    }
  }

  return {
    run: (sequence, prompt, signal) => advance(sequence, prompt, () => slice, signal),
    runAll: (sequence, prompt, signal) => advance(sequence, prompt, () => 0, signal),
  }
}
