import type { LlmStatus } from './models.contract.ts'

export interface LlmMessage {
  role: 'system' | 'user' | 'assistant'
  content: string
}

/** Something the model may do while it replies. */
export interface LlmFunction {
  name: string
  description: string
  /** JSON Schema of the one object the handler receives. */
  parameters: object
  /** What it resolves to is shown to the model as JSON; what it throws is shown to the model as an error, and the reply goes on. */
  handler(params: unknown, signal: AbortSignal): Promise<unknown>
}

export interface GenerateRequest {
  /** Requests of one id share cached evaluation; use one per conversation. */
  conversationId: string
  /** Who asks. Those who wait are served in turn, one request each. */
  fairKey: string
  /** The whole conversation: system first, oldest first, the user's last. What does not fit is dropped from its old end. */
  messages: readonly LlmMessage[]
  /** Of the reply; 1024 unless stated. */
  maxTokens?: number
  /** 0 is deterministic; 0.7 unless stated. */
  temperature?: number
  /** The reply ends before the first of these texts. */
  stop?: readonly string[]
  /** The reply is JSON that follows this schema. Not together with `functions`. */
  jsonSchema?: object
  functions?: readonly LlmFunction[]
  signal: AbortSignal
  /** Called with each piece as it is generated, whole characters only. */
  onText(text: string): void
}

export interface GenerateResult {
  /** All pieces together. */
  text: string
  /** `length`: cut at the limit of tokens, of time or of the context. */
  stopReason: 'end' | 'length' | 'aborted'
  /** Name of the model that replied. */
  model: string
  usage: {
    /** Tokens of the prompt as it was used, history included. */
    promptTokens: number
    /** Those of them that were not still in the cache. */
    evaluatedTokens: number
    replyTokens: number
  }
}

/** The choice of no model of one's own, so that it stays off although there are files. */
export const NO_MODEL = 'none'

/** Which model serves. All null: the first file in the models folder that can speak. */
export interface LlmChoice {
  /** A name under the models folder, a path of a GGUF file, or with `baseUrl` a model of that host; {@link NO_MODEL} for none. */
  model: string | null
  /** Of an OpenAI-compatible host, ending in /v1. */
  baseUrl: string | null
  apiKey: string | null
}

/** The language model as the rest of the server sees it, wherever it runs. */
export interface Llm {
  status(): Promise<LlmStatus>
  /**
   * Waits for its turn and for a model that is still loading, then streams a reply. A signal that aborts while the reply is on its way
   * resolves with what was said so far. Fails with AppError 503 `no_model` (nothing is set up), 503 `model_unavailable`, 503 `busy`,
   * 413 `too_large` (the last message alone does not fit), 502 `upstream_failed` (the host broke off), 504 `timeout`.
   */
  generate(request: GenerateRequest): Promise<GenerateResult>
  /** Switches; replies on their way fail. Loading goes on behind it. */
  choose(choice: LlmChoice): Promise<void>
  start(): Promise<void>
  stop(): Promise<void>
}

/** Where replies come from: the embedded model or another host. */
export interface Engine {
  state(): EngineState
  /** As `Llm.generate`, without the queue. */
  generate(request: GenerateRequest): Promise<GenerateResult>
  /** Resolves when it is not loading, or the signal aborts. */
  settled(signal: AbortSignal): Promise<void>
  start(): Promise<void>
  stop(): Promise<void>
}

export interface EngineState {
  status: 'ok' | 'loading' | 'error'
  /** Usable models, the active one first. */
  models: readonly string[]
  detail?: string
}
