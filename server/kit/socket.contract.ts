import { z } from 'zod'

/** One JSON object per text frame, in both directions. */
export const SocketFrame = z.object({ type: z.string().max(64), id: z.string().max(64).optional(), payload: z.unknown().optional() })

/** What a client may send. */
export const clientMessages = {
  hello: z.object({ lastSeq: z.number().int().nonnegative().optional() }).default({}),
  ping: z.unknown().optional(),
  subscribe: z.object({ topics: z.array(z.string().max(64)).min(1).max(64) }),
  unsubscribe: z.object({ topics: z.array(z.string().max(64)).min(1).max(64) }),
}

/** What the server sends. */
export const serverMessages = {
  welcome: z.object({ deviceId: z.uuid(), scope: z.enum(['admin', 'member', 'guest']), seq: z.number().int() }),
  pong: z.object({}),
  result: z.object({
    id: z.string().optional().describe('The id of the message it answers.'),
    ok: z.boolean(),
    error: z.string().optional(),
  }),
  error: z.object({ code: z.string(), message: z.string() }),
}

/** Application close codes. */
export const closeCodes = { revoked: 4401, slowReader: 4408, flood: 4429 }
