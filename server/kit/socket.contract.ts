import { z } from 'zod'

/** One JSON object per text frame, in both directions. */
export const SocketFrame = z.object({ type: z.string().max(64), id: z.string().max(64).optional(), payload: z.unknown().optional() })

const topicNames = z.object({ topics: z.array(z.string().max(64)).min(1).max(64) })

/** What a client may send. */
export const clientMessages = {
  hello: z
    .object({ lastSeq: z.number().int().nonnegative().optional().describe('The newest `seq` that the client has seen.') })
    .default({})
    .describe(
      'Says where the client left off; answered by `welcome`. Only the first one of a socket brings what was missed. Whoever says nothing for two seconds is welcomed all the same.',
    ),
  ping: z.unknown().optional().describe('Answered by `pong`.'),
  subscribe: topicNames.describe(
    'Asks to be told of topics; answered by `result`. All or none: one unknown topic, or one beyond the caller’s scope, is an `error`.',
  ),
  unsubscribe: topicNames.describe('Asks to be told of topics no longer; answered by `result`.'),
}

/** What the server sends. */
export const serverMessages = {
  welcome: z
    .object({
      deviceId: z.uuid(),
      scope: z.enum(['admin', 'member', 'guest']),
      seq: z.number().int().describe('The newest sequence number of what the caller may have been sent.'),
    })
    .describe('Answers `hello`; what was missed follows it.'),
  pong: z.object({}).describe('Answers `ping`.'),
  result: z
    .object({
      id: z.string().optional().describe('The id of the message it answers.'),
      ok: z.boolean(),
      error: z.string().optional(),
    })
    .describe('Tells whether what a message asked for was done.'),
  error: z
    .object({ code: z.string(), message: z.string() })
    .describe('Answers a message that is none, is of an unknown type, or has a payload that is not valid; the socket stays open.'),
}

/** What a socket holds to. */
export const socketLimits = {
  frameBytes: 256 * 1024,
  bufferedBytes: 1024 * 1024,
  helloMs: 2_000,
  pingMs: 20_000,
  /** How long a client has to answer that it is closed. */
  closeMs: 5_000,
  /** Messages a second, and for how many seconds on end more of them are borne. */
  floodPerSecond: 50,
  floodSeconds: 5,
}

/** Application close codes. */
export const closeCodes = { revoked: 4401, slowReader: 4408, flood: 4429 }
