import { randomUUID } from 'node:crypto'
import type { Logger } from '../../../kit/log.ts'
import type { Engine, EngineState, GenerateRequest, GenerateResult } from '../llm.ts'
import { SHAPE } from '../memory-need.ts'
import { CRASHED_LOADING, OUT_OF_MEMORY } from '../shelf/load-faults.ts'
import type { ModelFile } from '../shelf/model-files.ts'
import { type LlamaChild, startLlamaChild } from './llama-child.ts'
import { type HostNews, LIMITS } from './llama-protocol.ts'
import { followReply, modelUnavailable, type PendingReply } from './llama-reply.ts'

export interface LlamaRuntime {
  gpu: 'auto' | false
  /** As many as the machine makes good use of, unless stated. */
  threads?: number
}

interface RunnerDeps {
  file: ModelFile
  runtime: LlamaRuntime
  slots: number
  log: Logger
}

/** An engine whose model lives in a process of its own. */
export interface LlamaRunner extends Engine {
  /** Of the model process, while there is one. */
  pid(): number | undefined
}

const CONTEXT_TOKENS = SHAPE.chat.contextTokens
/** Where memory ran out with more. */
const FEWER_TOKENS = SHAPE.chat.fewestTokens
const FIRST_PAUSE_MS = 250
const LONGEST_PAUSE_MS = 30_000
/** Who asks waits for a restart that is nearer than this, and hears the reason otherwise. */
const WORTH_WAITING_MS = 1_000
/** A model process that does not obey for so long is stuck in native code. */
const STUCK_MS = 15_000

const CRASHED = 'The language model stopped unexpectedly and is being started again.'

type Phase =
  | { kind: 'stopped' }
  | { kind: 'loading'; settled: Promise<void>; settle(): void }
  | { kind: 'ready' }
  | { kind: 'down'; reason: string }

const loadingPhase = (): Extract<Phase, { kind: 'loading' }> => {
  const { promise, resolve } = Promise.withResolvers<void>()
  return { kind: 'loading', settled: promise, settle: resolve }
}

const nothingSaid = (model: string): GenerateResult => ({
  text: '',
  stopReason: 'aborted',
  model,
  usage: { promptTokens: 0, evaluatedTokens: 0, replyTokens: 0 },
})

/** Resolves when `promise` or `signal` does, whichever is first. */
async function settledOrAborted(promise: Promise<void>, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return
  const aborted = Promise.withResolvers<void>()
  signal.addEventListener('abort', () => aborted.resolve(), { once: true })
  await Promise.race([promise, aborted.promise])
}

/**
 * Runs a GGUF file in a child process: loads it in the background, starts it again when it crashes, sooner at first, and gives up on a
 * file that does not load until the next `start`.
 */
export function createLlamaRunner({ file, runtime, slots, log }: RunnerDeps): LlamaRunner {
  const replies = new Map<string, PendingReply>()
  let phase: Phase = { kind: 'stopped' }
  let child: LlamaChild | undefined
  let contextTokens: number = CONTEXT_TOKENS
  let crashes = 0
  let restart: NodeJS.Timeout | undefined

  const enter = (next: Phase) => {
    const before = phase
    phase = next
    if (before.kind === 'loading' && before !== next) before.settle()
  }

  const hear = (news: HostNews) => {
    if (news.type === 'loaded') {
      log.info({ model: file.name, contextTokens: news.contextTokens }, 'language model ready')
      enter({ kind: 'ready' })
    } else if (news.type === 'load-failed') {
      log.error({ model: file.name, cause: news.cause }, news.reason)
      enter({ kind: 'down', reason: news.reason })
    } else if (news.type === 'text' || news.type === 'call' || news.type === 'done' || news.type === 'failed')
      replies.get(news.id)?.hear(news)
  }

  const launch = () => {
    const own = startLlamaChild(log, (news) => child === own && hear(news))
    child = own
    void own.exited.then((signal) => child === own && lost(signal))
    own.send({ type: 'load', path: file.path, gpu: runtime.gpu, threads: runtime.threads ?? null, slots, contextTokens })
  }

  /** The process is gone without having been told to. */
  const lost = (signal: NodeJS.Signals | null) => {
    child = undefined
    log.error({ model: file.name, signal, phase: phase.kind }, 'the model process ended')
    for (const reply of replies.values()) reply.fail(modelUnavailable(CRASHED))
    if (phase.kind === 'down') return
    // nobody else kills it but a system that needs its memory
    const short = signal === 'SIGKILL'
    const wasShort = contextTokens === FEWER_TOKENS
    if (short) contextTokens = FEWER_TOKENS
    if (phase.kind === 'ready') return restartLater()
    if (short && !wasShort) return launch()
    enter({ kind: 'down', reason: short ? OUT_OF_MEMORY : CRASHED_LOADING })
  }

  const restartLater = () => {
    const pauseMs = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** crashes++)
    enter(pauseMs > WORTH_WAITING_MS ? { kind: 'down', reason: CRASHED } : loadingPhase())
    restart = setTimeout(() => {
      if (phase.kind !== 'loading') enter(loadingPhase())
      launch()
    }, pauseMs)
  }

  const order = (id: string, request: GenerateRequest) => ({
    type: 'generate' as const,
    id,
    conversationId: request.conversationId,
    messages: request.messages.map(({ role, content }) => ({ role, content })),
    maxTokens: request.maxTokens ?? LIMITS.replyTokens,
    maxMs: LIMITS.replyMs,
    temperature: request.temperature ?? 0.7,
    ...(request.stop?.length && { stop: [...request.stop] }),
    ...(request.jsonSchema && { jsonSchema: { ...request.jsonSchema } }),
    ...(request.functions && {
      functions: request.functions.map(({ name, description, parameters }) => ({ name, description, parameters: { ...parameters } })),
    }),
  })

  const ask = async (own: LlamaChild, request: GenerateRequest): Promise<GenerateResult> => {
    const id = randomUUID()
    const reply = followReply(id, request, own.send)
    const timers = [setTimeout(own.kill, LIMITS.replyMs + STUCK_MS)]
    const cancel = () => {
      own.send({ type: 'cancel', id })
      timers.push(setTimeout(own.kill, STUCK_MS))
    }
    replies.set(id, reply)
    request.signal.addEventListener('abort', cancel, { once: true })
    try {
      own.send(order(id, request))
      const result = await reply.result
      crashes = 0
      return { ...result, model: file.name }
    } finally {
      replies.delete(id)
      request.signal.removeEventListener('abort', cancel)
      timers.forEach(clearTimeout)
    }
  }

  return {
    pid: () => child?.pid,
    state(): EngineState {
      if (phase.kind === 'ready') return { status: 'ok', models: [file.name] }
      if (phase.kind === 'loading') return { status: 'loading', models: [file.name] }
      return { status: 'error', models: [], detail: phase.kind === 'down' ? phase.reason : 'The language model is switched off.' }
    },
    async settled(signal) {
      while (phase.kind === 'loading' && !signal.aborted) await settledOrAborted(phase.settled, signal)
    },
    async generate(request) {
      while (phase.kind === 'loading' && !request.signal.aborted) await settledOrAborted(phase.settled, request.signal)
      if (request.signal.aborted) return nothingSaid(file.name)
      if (phase.kind !== 'ready' || !child) throw modelUnavailable(phase.kind === 'down' ? phase.reason : CRASHED)
      return ask(child, request)
    },
    async start() {
      if (phase.kind !== 'stopped') return
      contextTokens = CONTEXT_TOKENS
      enter(loadingPhase())
      launch()
    },
    async stop() {
      clearTimeout(restart)
      const last = child
      child = undefined
      enter({ kind: 'stopped' })
      for (const reply of replies.values()) reply.fail(modelUnavailable('The language model was switched off.'))
      last?.kill()
      await last?.exited
    },
  }
}
