import { AppError } from '../../../kit/errors.ts'
import type { Logger } from '../../../kit/log.ts'
import { fitHistory } from '../llama/llama-history.ts'
import { LIMITS } from '../llama/llama-protocol.ts'
import { modelUnavailable } from '../llama/llama-reply.ts'
import type { Engine, GenerateRequest, GenerateResult, LlmFunction, LlmMessage } from '../llm.ts'
import { ContextExceeded, createOpenAiClient, endless } from './openai-client.ts'
import { type CompletionEvent, calledMessage, completionBody, type ToolCall, type WireMessage } from './openai-wire.ts'

interface HostDeps {
  baseUrl: string
  apiKey: string | null
  /** Null: the first the host names. */
  model: string | null
  log: Logger
}

/** Rounds of function calls in one reply; a model that goes on calling is cut off. */
const MOST_ROUNDS = 8
const MOST_TEXT = 1_048_576
/** Of the name and arguments of a call, of which there are 64 at most. */
const MOST_CALL = 65_536
const LOOK_AGAIN_MS = { ok: 60_000, failed: 5_000 }
/** Characters of history sent at first; a host that refuses them as too many gets half. */
const HISTORY_CHARS = 64_000
const LEAST_HISTORY_CHARS = 4_000

interface Round {
  text: string
  calls: ToolCall[]
  cut: boolean
  usage: CompletionEvent['usage']
}

function addCalls(calls: ToolCall[], parts: NonNullable<NonNullable<CompletionEvent['choices'][number]['delta']>['tool_calls']>): void {
  for (const part of parts) {
    const call = calls[part.index] ?? { id: `call_${part.index}`, name: '', arguments: '' }
    calls[part.index] = call
    if (part.id) call.id = part.id
    call.name += part.function?.name ?? ''
    call.arguments += part.function?.arguments ?? ''
    if (call.name.length + call.arguments.length > MOST_CALL) throw endless()
  }
}

async function readRound(events: AsyncIterable<CompletionEvent>, onText: (text: string) => void): Promise<Round> {
  const round: Round = { text: '', calls: [], cut: false, usage: undefined }
  for await (const event of events) {
    if (event.error !== undefined) throw new AppError(502, 'upstream_failed', 'The language model host failed while it replied.')
    const [choice] = event.choices
    const text = choice?.delta?.content ?? ''
    round.usage = event.usage ?? round.usage
    if (choice?.delta?.tool_calls) addCalls(round.calls, choice.delta.tool_calls)
    if (choice?.finish_reason === 'length') round.cut = true
    if (text === '') continue
    round.text += text
    onText(text)
  }
  round.calls = round.calls.filter((call) => call.name !== '')
  return round
}

async function runCall(functions: readonly LlmFunction[], call: ToolCall, signal: AbortSignal): Promise<WireMessage> {
  let content: string
  try {
    const wanted = functions.find(({ name }) => name === call.name)
    if (!wanted) throw new Error(`There is no function ${call.name}`)
    content = JSON.stringify((await wanted.handler(JSON.parse(call.arguments || '{}'), signal)) ?? null)
  } catch (error) {
    content = JSON.stringify({ error: error instanceof Error ? error.message : String(error) })
  }
  return { role: 'tool', tool_call_id: call.id, content }
}

const fitted = (messages: readonly LlmMessage[], chars: number) =>
  fitHistory(messages, chars, {
    whole: (all) => all.reduce((sum, { content }) => sum + content.length, 0),
    one: ({ content }) => content.length,
  })

/** An engine that lets an OpenAI-compatible host reply. */
export function createOpenAiHost({ baseUrl, apiKey, model, log }: HostDeps): Engine {
  const client = createOpenAiClient(baseUrl, apiKey)
  let models: string[] = []
  let fault: string | undefined
  let lookedAt: number | undefined
  let looking: Promise<void> | undefined
  let historyChars = HISTORY_CHARS
  let stopping = new AbortController()

  const look = () => {
    looking ??= client
      .models()
      .then(
        (names) => {
          models = names
          fault = names.length === 0 && !model ? 'The language model host offers no model.' : undefined
        },
        (error: Error) => {
          fault = error.message
          log.warn({ err: error }, 'language model host')
        },
      )
      .finally(() => {
        lookedAt = performance.now()
        looking = undefined
      })
    return looking
  }

  const active = () => model ?? models[0]

  /** One request, repeated with less history where the host finds it too long. */
  const round = async (request: GenerateRequest, further: readonly WireMessage[], options: { maxTokens: number; signal: AbortSignal }) => {
    const name = active()
    if (!name) throw modelUnavailable(fault ?? 'The language model host offers no model.')
    for (;;) {
      const messages = [...fitted(request.messages, historyChars), ...further]
      const body = completionBody(name, request, messages, options.maxTokens)
      try {
        return await readRound(client.complete(body, options.signal), request.onText)
      } catch (error) {
        if (!(error instanceof ContextExceeded)) throw error
        if (historyChars <= LEAST_HISTORY_CHARS)
          throw new AppError(413, 'too_large', 'This conversation is too long for the language model.')
        historyChars /= 2
      }
    }
  }

  const converse = async (request: GenerateRequest, signal: AbortSignal): Promise<Pick<GenerateResult, 'stopReason' | 'usage'>> => {
    const usage = { promptTokens: 0, evaluatedTokens: 0, replyTokens: 0 }
    const further: WireMessage[] = []
    const maxTokens = request.maxTokens ?? LIMITS.replyTokens
    for (let rounds = 0; rounds < MOST_ROUNDS; rounds++) {
      const { text, calls, cut, usage: used } = await round(request, further, { maxTokens, signal })
      if (used) {
        usage.promptTokens = used.prompt_tokens
        usage.evaluatedTokens += used.prompt_tokens - (used.prompt_tokens_details?.cached_tokens ?? 0)
        usage.replyTokens += used.completion_tokens
      }
      if (calls.length === 0) return { stopReason: cut ? 'length' : 'end', usage }
      const results = await Promise.all(calls.map((call) => runCall(request.functions ?? [], call, signal)))
      further.push(calledMessage(text, calls), ...results)
    }
    return { stopReason: 'length', usage }
  }

  return {
    state() {
      if (lookedAt === undefined) return { status: 'loading', models: model ? [model] : [] }
      if (performance.now() - lookedAt > (fault ? LOOK_AGAIN_MS.failed : LOOK_AGAIN_MS.ok)) void look()
      if (fault) return { status: 'error', models: [], detail: fault }
      const name = active()
      return { status: 'ok', models: name ? [name, ...models.filter((other) => other !== name)] : [] }
    },
    async settled() {
      if (lookedAt === undefined) await look()
    },
    async generate(request) {
      if (lookedAt === undefined || (fault && !model)) await look()
      const limit = AbortSignal.timeout(LIMITS.replyMs)
      const signal = AbortSignal.any([request.signal, limit, stopping.signal])
      let text = ''
      const onText = (piece: string) => {
        if (text.length + piece.length > MOST_TEXT) throw endless()
        text += piece
        request.onText(piece)
      }
      const ended = await converse({ ...request, onText }, signal).catch((error: unknown) => {
        const usage = { promptTokens: 0, evaluatedTokens: 0, replyTokens: 0 }
        if (request.signal.aborted) return { stopReason: 'aborted' as const, usage }
        if (limit.aborted) return { stopReason: 'length' as const, usage }
        if (error instanceof AppError && error.status >= 500 && !stopping.signal.aborted) {
          fault = error.message
          lookedAt = performance.now()
        }
        throw error
      })
      return { text, model: active() ?? '', ...ended }
    },
    async start() {
      stopping = new AbortController()
      void look()
    },
    async stop() {
      stopping.abort(modelUnavailable('The language model was switched off.'))
    },
  }
}
