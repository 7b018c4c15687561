import { randomUUID } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { AppError, invalid } from '../../kit/errors.ts'
import type { Logger } from '../../kit/log.ts'
import type { Module } from '../../kit/module.ts'
import { type Call, routes } from '../../kit/routes.ts'
import type { Embedder } from '../memory/embedder.ts'
import type { GenerateRequest, Llm } from '../models/llm.ts'
import { type Completion, createCompletionAnswer, type OfferedCall } from './completion-answer.ts'
import { failureEvent, functionsOf, generateRequestOf } from './completion-request.ts'
import { type CompletionRequest, type EmbeddingRequest, openaiContract } from './openai.contract.ts'

interface OpenAiDeps {
  llm: Llm
  /** What embeds the memory now; null while nothing does. */
  embedders: { current(): Embedder | null }
  /** When a model's file was written, in milliseconds; null where it has none here. */
  writtenAt(name: string): Promise<number | null>
  log: Logger
}

const CHARS_PER_TOKEN = 4
const VECTORS_AT_ONCE = 16
const JSON_TYPE = 'application/json; charset=utf-8'

/** The clients of this API know one way of having no model. */
const unavailable = (error: unknown) =>
  error instanceof AppError && error.code === 'no_model' ? new AppError(503, 'model_unavailable', error.message, { cause: error }) : error

const noEmbedder = () => new AppError(503, 'model_unavailable', 'There is no embedding model at the moment.')

const inBase64 = (vector: Float32Array) => Buffer.from(vector.buffer, vector.byteOffset, vector.byteLength).toString('base64')

/** What the usual clients of the OpenAI API need, over the house’s own models. */
export function createOpenAi({ llm, embedders, writtenAt, log }: OpenAiDeps): Module {
  /** Of a model that another host runs nobody knows how old it is. */
  const since = Date.now()
  const described = async (id: string) => ({
    id,
    object: 'model' as const,
    created: Math.floor(((await writtenAt(id)) ?? since) / 1000),
    owned_by: 'hearth',
  })
  const notHere = (name: string, why: string) => new AppError(404, 'model_not_found', `${name} ${why}`)

  /** The model in use, which answers for every name but that of another one here: who names that means it. Throws 404. */
  async function serving(asked: string | undefined): Promise<string> {
    const { status, models } = await llm.status()
    const [active = ''] = models
    const isOther = asked !== undefined && models.includes(asked) && asked !== active
    if (status === 'ok' && isOther) throw notHere(asked, `is not in use; ${active} is.`)
    return active || (asked ?? '')
  }

  /** A call of the client's own function ends the reply: what comes of it is the client's next request. */
  async function generate(body: CompletionRequest, request: GenerateRequest): Promise<Completion> {
    const calls: OfferedCall[] = []
    const called = new AbortController()
    const functions = functionsOf(body).map((offered) => ({
      ...offered,
      async handler(params: unknown) {
        calls.push({ id: `call_${randomUUID()}`, type: 'function', function: { name: offered.name, arguments: JSON.stringify(params) } })
        setImmediate(() => called.abort()) // those called beside it are heard too
        return null
      },
    }))
    const signal = AbortSignal.any([request.signal, called.signal])
    const offer = functions.length > 0 && !request.jsonSchema && { functions }
    const result = await llm.generate({ ...request, ...offer, signal }).catch((error: unknown) => Promise.reject(unavailable(error)))
    return { ...result, calls }
  }

  /** The head is sent with the first word, so that what fails before it is answered as any other failure. */
  async function stream(body: CompletionRequest, request: Omit<GenerateRequest, 'onText'>, model: string, { reply }: Call): Promise<void> {
    const answer = createCompletionAnswer(model)
    let res: ServerResponse | undefined
    const send = (event: object | '[DONE]') => {
      if (!res) {
        reply.header('x-accel-buffering', 'no')
        res = reply.open('text/event-stream; charset=utf-8')
        send(answer.first())
      }
      res.write(`data: ${event === '[DONE]' ? event : JSON.stringify(event)}\n\n`)
    }
    try {
      const result = await generate(body, { ...request, onText: (text) => send(answer.text(text)) })
      if (request.signal.aborted) return void res?.destroy()
      if (result.calls.length > 0) send(answer.calls(result))
      send(answer.last(result))
      if (body.stream_options?.include_usage) send(answer.usage(result))
      send('[DONE]')
    } catch (error) {
      if (!res) throw error
      log.warn({ err: error }, 'a completion failed on its way')
      send(failureEvent(error))
    }
    res?.end()
  }

  async function complete(body: CompletionRequest, call: Call<'member'>): Promise<void> {
    const { sessionId } = call.caller
    const request = { ...generateRequestOf(body), conversationId: `v1:${sessionId}`, fairKey: sessionId, signal: call.signal }
    const model = await serving(body.model)
    if (body.stream) return stream(body, request, model, call)
    const result = await generate(body, { ...request, onText: () => undefined })
    if (call.signal.aborted) return
    call.reply.open(JSON_TYPE).end(JSON.stringify(createCompletionAnswer(result.model).whole(result)))
  }

  /** Written vector by vector: two thousand of them in one piece would hold everybody up. */
  async function embed({ input, encoding_format, dimensions }: EmbeddingRequest, { reply, signal }: Call): Promise<void> {
    const embedder = embedders.current()
    if (!embedder) throw noEmbedder()
    if (dimensions && dimensions !== embedder.dimensions)
      throw invalid([{ path: 'body.dimensions', message: `is ${embedder.dimensions} with this model` }])
    const texts = [input].flat()
    const vectors = await embedder.embed(texts, 'passage', signal)
    const tokens = Math.ceil(texts.reduce((sum, { length }) => sum + length, 0) / CHARS_PER_TOKEN)
    const res = reply.open(JSON_TYPE)
    res.write(`{"object":"list","model":${JSON.stringify(embedder.name)},"data":[`)
    for (const [index, vector] of vectors.entries()) {
      const embedding = encoding_format === 'base64' ? inBase64(vector) : [...vector]
      res.write(`${index > 0 ? ',' : ''}${JSON.stringify({ object: 'embedding', index, embedding })}`)
      if (index % VECTORS_AT_ONCE === 0) await nextTurn()
    }
    res.end(`],"usage":${JSON.stringify({ prompt_tokens: tokens, total_tokens: tokens })}}`)
  }

  return {
    name: 'openai',
    routes: [
      routes(openaiContract, {
        async models() {
          const { models } = await llm.status()
          return { object: 'list' as const, data: await Promise.all(models.map(described)) }
        },
        async model({ params: { name } }) {
          const { models } = await llm.status()
          if (!models.includes(name)) throw notHere(name, 'is no model of this Hearth.')
          return described(name)
        },
        complete: ({ body }, call) => complete(body, call),
        embed: ({ body }, call) => embed(body, call),
      }),
    ],
  }
}
