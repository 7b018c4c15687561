import { ReplyHead } from '../../../server/modules/chat/chat.contract.ts'

/** What a streamed reply tells its reader, in this order: the head once, then text in pieces of any size. */
export interface ReplyListener {
  head(head: ReplyHead): void
  text(piece: string): void
}

/** The stream does not begin as a reply does, or ends before its first line is complete. */
export class UnreadableReply extends Error {
  constructor(reason: string) {
    super(`The reply could not be read: ${reason}.`)
    this.name = 'UnreadableReply'
  }
}

const MAX_HEAD_LENGTH = 4096

function parseHead(line: string): ReplyHead {
  try {
    return ReplyHead.parse(JSON.parse(line))
  } catch {
    throw new UnreadableReply('its first line is not a head')
  }
}

/** Puts pieces together until the first line is whole; everything behind it is reply text. */
function createSplitter(listener: ReplyListener) {
  let line: string | null = ''
  return {
    take(piece: string): void {
      if (line === null) {
        if (piece !== '') listener.text(piece)
        return
      }
      line += piece
      const end = line.indexOf('\n')
      if (end === -1 && line.length > MAX_HEAD_LENGTH) throw new UnreadableReply('its first line has no end')
      if (end === -1) return
      const rest = line.slice(end + 1)
      listener.head(parseHead(line.slice(0, end)))
      line = null
      if (rest !== '') listener.text(rest)
    },
    end(): void {
      if (line !== null) throw new UnreadableReply('it ended before it began')
    },
  }
}

/**
 * Reads a reply to its end, wherever the network happened to cut it: inside the first line, or inside a character.
 * Rejects with {@link UnreadableReply}, or with whatever broke or aborted the stream.
 */
export async function readReply(body: ReadableStream<Uint8Array>, listener: ReplyListener): Promise<void> {
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true })
  const splitter = createSplitter(listener)
  const reader = body.getReader()
  try {
    for (let next = await reader.read(); !next.done; next = await reader.read()) {
      splitter.take(decoder.decode(next.value, { stream: true }))
    }
    splitter.take(decoder.decode())
    splitter.end()
  } catch (error) {
    // Whoever still sends should stop; where the stream itself broke, there is nothing left to cancel.
    reader.cancel().catch(() => undefined)
    throw error
  }
}
