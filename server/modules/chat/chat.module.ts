import type { ServerResponse } from 'node:http'
import type { Module } from '../../kit/module.ts'
import { type Call, routes } from '../../kit/routes.ts'
import { chatContract, ReplyHead } from './chat.contract.ts'
import type { ConversationsService } from './conversations.service.ts'
import type { Decisions } from './decisions.ts'
import { asMarkdown, attachment } from './export.ts'
import type { RepliesService, ReplySink } from './replies.service.ts'

export interface ChatDeps {
  conversations: ConversationsService
  replies: RepliesService
  decisions: Decisions
}

/**
 * Runs `answer` into the response: a line of JSON, then the bare text. A reply that breaks off ends the connection unfinished; one that
 * fails before it began names its conversation, where what was said is kept.
 */
async function streamReply({ reply, signal }: Call<'guest'>, answer: (sink: ReplySink) => Promise<void>): Promise<void> {
  let body: ServerResponse | undefined
  let keptIn: string | undefined
  try {
    await answer({
      signal,
      kept(conversationId) {
        keptIn = conversationId
      },
      open(head) {
        reply.header('x-accel-buffering', 'no')
        body = reply.open('text/event-stream; charset=utf-8')
        body.write(`${JSON.stringify(ReplyHead.parse(head))}\n`)
      },
      write: (text) => void body?.write(text),
    })
  } catch (error) {
    if (keptIn !== undefined) reply.header('location', chatContract.get.path.replace('{id}', keptIn))
    throw error
  }
  body?.end()
}

export function createChat({ conversations, replies, decisions }: ChatDeps): Module {
  return {
    name: 'chat',
    routes: [
      routes(chatContract, {
        send: ({ body }, call) => streamReply(call, (sink) => replies.send(call.caller, body.message, body, sink)),
        regenerate: ({ params }, call) => streamReply(call, (sink) => replies.regenerate(call.caller, params.id, sink)),
        list: ({ query }, { caller }) => conversations.list(caller, query.deviceId, query.limit),
        search: ({ query }, { caller }) => conversations.search(caller, query.q, query.limit),
        get: ({ params }, { caller }) => conversations.get(caller, params.id),
        rename: ({ params, body }, { caller }) => conversations.rename(caller, params.id, body.title),
        async remove({ params }, { caller }) {
          conversations.mustOwn(caller, params.id)
          await replies.stopReply(params.id)
          await conversations.remove(caller, params.id)
        },
        async decide({ params, body }, { caller, signal }) {
          conversations.mustOwn(caller, params.id)
          const decided = await decisions.decide(caller, params.id, params.callId, body.approve, signal)
          await replies.tellOutcome(caller, params.id, decided)
          return conversations.message(decided.messageId)
        },
        export({ params }, { caller, reply }) {
          const conversation = conversations.get(caller, params.id)
          reply.header('content-disposition', attachment(`${conversation.title}.md`))
          reply.open('text/markdown; charset=utf-8').end(asMarkdown(conversation))
        },
      }),
    ],
    start: () => conversations.closeUnfinished(),
    stop: () => replies.stopAll(),
  }
}
