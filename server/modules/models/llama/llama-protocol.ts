import { z } from 'zod'

/** What a reply may cost at most, whatever the request says. */
export const LIMITS = { replyTokens: 1024, replyMs: 600_000 } as const

const ChatMessage = z.strictObject({ role: z.enum(['system', 'user', 'assistant']), content: z.string() })
const JsonSchema = z.record(z.string(), z.unknown())

const Load = z.strictObject({
  type: z.literal('load'),
  path: z.string(),
  gpu: z.union([z.literal('auto'), z.literal(false)]),
  threads: z.int().positive().nullable(),
  slots: z.int().positive(),
  /** Per slot, in tokens; a smaller one is used where the model or the memory wants it. */
  contextTokens: z.int().positive(),
})
export type LoadOrder = z.output<typeof Load>

const Generate = z.strictObject({
  type: z.literal('generate'),
  id: z.string(),
  conversationId: z.string(),
  messages: z.array(ChatMessage).min(1),
  maxTokens: z.int().positive(),
  maxMs: z.int().positive(),
  temperature: z.number().min(0).max(2),
  stop: z.array(z.string().min(1)).optional(),
  jsonSchema: JsonSchema.optional(),
  functions: z.array(z.strictObject({ name: z.string(), description: z.string(), parameters: JsonSchema })).optional(),
})
export type GenerateOrder = z.output<typeof Generate>

const LoadEmbedder = Load.omit({ type: true, slots: true }).extend({ type: z.literal('load-embedder') })
export type LoadEmbedderOrder = z.output<typeof LoadEmbedder>

/** Texts of one order; more would let a cancellation or a nearer question wait. */
export const TEXTS_AT_ONCE = 8
const Embed = z.strictObject({ type: z.literal('embed'), id: z.string(), texts: z.array(z.string()).min(1).max(TEXTS_AT_ONCE) })
export type EmbedOrder = z.output<typeof Embed>

/** Parent to model process. */
export const HostOrder = z.discriminatedUnion('type', [
  Load,
  LoadEmbedder,
  /** Finds out what graphics memory there is; instead of loading. */
  z.strictObject({ type: z.literal('describe') }),
  Generate,
  Embed,
  z.strictObject({ type: z.literal('cancel'), id: z.string() }),
  z.strictObject({ type: z.literal('call-result'), id: z.string(), callId: z.int(), result: z.unknown() }),
])
export type HostOrder = z.output<typeof HostOrder>

const Usage = z.strictObject({ promptTokens: z.int(), evaluatedTokens: z.int(), replyTokens: z.int() })

/** Model process to parent. */
export const HostNews = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('loaded'), contextTokens: z.int() }),
  z.strictObject({ type: z.literal('embedder-loaded'), contextTokens: z.int(), dimensions: z.int().positive() }),
  z.strictObject({ type: z.literal('described'), gpu: z.string().nullable(), gpuBytes: z.number().nullable() }),
  /** Unit vectors, each the base64 of its 32-bit floats. */
  z.strictObject({ type: z.literal('vectors'), id: z.string(), vectors: z.array(z.string()) }),
  z.strictObject({ type: z.literal('load-failed'), reason: z.string(), cause: z.string() }),
  z.strictObject({ type: z.literal('text'), id: z.string(), text: z.string() }),
  z.strictObject({ type: z.literal('call'), id: z.string(), callId: z.int(), name: z.string(), params: z.unknown() }),
  z.strictObject({ type: z.literal('done'), id: z.string(), stopReason: z.enum(['end', 'length', 'aborted']), usage: Usage }),
  z.strictObject({ type: z.literal('failed'), id: z.string(), code: z.enum(['too_large', 'internal']), message: z.string() }),
])
export type HostNews = z.output<typeof HostNews>
