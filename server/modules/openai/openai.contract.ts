import { z } from 'zod'
import { endpoint } from '../../kit/endpoint.ts'

const TextPart = z.looseObject({ type: z.string(), text: z.string().optional() })

const ToolCall = z.looseObject({ id: z.string().max(200), function: z.looseObject({ name: z.string().max(200), arguments: z.string() }) })
const Tool = z.looseObject({
  type: z.literal('function'),
  function: z.looseObject({
    name: z.string().regex(/^[\w-]{1,64}$/),
    description: z.string().max(10_000).nullish(),
    parameters: z.looseObject({}).nullish(),
  }),
})

/** What the usual clients of the OpenAI API send; what Hearth does not know is ignored, as they expect. */
export const CompletionRequest = z.looseObject({
  model: z.string().max(1024).optional(),
  messages: z
    .array(
      z.looseObject({
        role: z.enum(['system', 'developer', 'user', 'assistant', 'tool']),
        content: z.union([z.string(), z.array(TextPart)]).nullish(),
        tool_calls: z.array(ToolCall).max(64).nullish(),
      }),
    )
    .min(1)
    .max(2000),
  stream: z.boolean().nullish(),
  stream_options: z.looseObject({ include_usage: z.boolean().nullish() }).nullish(),
  temperature: z.number().min(0).max(2).nullish(),
  stop: z
    .union([z.string().max(500), z.array(z.string().max(500)).max(16)])
    .nullish()
    .describe('The reply ends before the first of these.'),
  max_tokens: z.number().int().min(1).max(100_000).nullish(),
  max_completion_tokens: z.number().int().min(1).max(100_000).nullish(),
  tools: z.array(Tool).max(64).nullish().describe('Functions of the client: their calls are answered with, and it runs them.'),
  tool_choice: z.unknown().optional().describe('`none` leaves the functions out; anything else is up to the model.'),
  response_format: z
    .looseObject({ type: z.string(), json_schema: z.looseObject({ schema: z.looseObject({}).optional() }).optional() })
    .nullish(),
})
export type CompletionRequest = z.output<typeof CompletionRequest>

export const EmbeddingRequest = z.looseObject({
  model: z.string().max(1024).optional(),
  input: z.union([z.string(), z.array(z.string()).min(1).max(2048)], {
    error: 'has to be a text or a list of texts; token ids are those of another model (a client that sends them can be told not to)',
  }),
  encoding_format: z.enum(['float', 'base64']).nullish(),
  dimensions: z.number().int().nullish(),
})
export type EmbeddingRequest = z.output<typeof EmbeddingRequest>

const Model = z.object({ id: z.string(), object: z.literal('model'), created: z.number().int(), owned_by: z.string() })

export const openaiContract = {
  models: endpoint({
    method: 'GET',
    path: '/v1/models',
    access: 'member',
    summary: 'The models, as the OpenAI API lists them',
    returns: z.object({
      object: z.literal('list'),
      data: z.array(Model),
    }),
  }),
  model: endpoint({
    method: 'GET',
    path: '/v1/models/{name}',
    access: 'member',
    summary: 'One model, as the OpenAI API tells it',
    params: z.object({ name: z.string().min(1).max(1024) }),
    returns: Model,
  }),
  complete: endpoint({
    method: 'POST',
    path: '/v1/chat/completions',
    access: 'member',
    summary: 'A reply of the language model, as the OpenAI API gives it, streamed or whole',
    description:
      'The model in use answers, and is named in `model`, whatever name of another maker’s model a client has built in. A model of this Hearth that is not in use is 404 `model_not_found`: its owner chooses which one is.',
    body: CompletionRequest,
    returns: z.string(),
    kind: 'stream',
  }),
  embed: endpoint({
    method: 'POST',
    path: '/v1/embeddings',
    access: 'member',
    summary: 'Vectors of texts by the active embedding model, as the OpenAI API gives them',
    body: EmbeddingRequest,
    returns: z.object({
      object: z.literal('list'),
      model: z.string(),
      data: z.array(
        z.object({ object: z.literal('embedding'), index: z.number().int(), embedding: z.union([z.array(z.number()), z.string()]) }),
      ),
      usage: z.object({ prompt_tokens: z.number().int(), total_tokens: z.number().int() }),
    }),
    kind: 'stream',
  }),
}
