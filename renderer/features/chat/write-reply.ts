import type { ReplyHead } from '../../../server/modules/chat/chat.contract.ts'
import { failureOf } from './chat-failure.ts'
import { createFrameBuffer } from './frame-buffer.ts'
import { readReply } from './reply-stream.ts'
import type { Turn } from './turn.svelte.ts'

/**
 * Lets `reply` grow by what `call` streams, until it is complete, aborted by `signal`, or failed. Resolves whether the
 * server took the request at all; never rejects.
 */
export async function writeReply(
  reply: Turn,
  call: () => Promise<Response>,
  { signal, begun }: { signal: AbortSignal; begun: (head: ReplyHead) => void },
): Promise<boolean> {
  const text = createFrameBuffer((piece) => {
    reply.content += piece
  })
  let taken = false
  try {
    const { body } = await call()
    await readReply(body ?? new ReadableStream(), {
      head(head) {
        taken = true
        reply.id = head.messageId
        begun(head)
      },
      text: text.add,
    })
    reply.state = 'complete'
  } catch (error) {
    reply.state = signal.aborted ? 'aborted' : 'failed'
    reply.failure = signal.aborted ? null : failureOf(error)
  }
  text.flush()
  return taken
}
