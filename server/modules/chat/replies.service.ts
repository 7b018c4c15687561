import { randomUUID } from 'node:crypto'
import type { Database, Transaction } from '../../db/database.ts'
import type { Caller } from '../../kit/caller.ts'
import { conflict } from '../../kit/errors.ts'
import type { EventBus } from '../../kit/events.ts'
import type { Answered, Answering, Before, Question } from './answering.ts'
import { chatMessageUser, type MessageSource, type ReplyHead, type ToolCall } from './chat.contract.ts'
import { type ConversationRow, ConversationTable, type MessageRow, MessageTable } from './chat.table.ts'
import type { ConversationsService } from './conversations.service.ts'
import { lightCall } from './light-call.ts'
import { titleOf } from './title.ts'

export interface RepliesDeps {
  db: Database
  conversations: ConversationsService
  answering: Answering
  /** Called within the write that finishes a model's reply, with the person's message. */
  learnFrom(tx: Transaction, said: MessageRow, caller: Caller): void
  /** Whether something that was allowed in a conversation is being done, of which nothing can be told yet. */
  isActing(conversationId: string): boolean
  /** What was done stays done, though the words about it are missing. */
  onUntold(error: unknown): void
  events: EventBus
}

/** Where a reply goes. `open` is called once, before the first `write`. */
export interface ReplySink {
  /** What was said is on the disk; whatever fails from here on, it stays in this conversation. */
  kept(conversationId: string): void
  open(head: ReplyHead): void
  write(text: string): void
  signal: AbortSignal
}

interface Turn {
  caller: Caller
  conversation: ConversationRow
  /** What the model reads, the person's message last. */
  said: MessageRow[]
  reply: MessageRow
  /** Replies that this one takes the place of, once it is there. */
  replaces: MessageRow[]
  /** What stands of those; the reply has its calls from the start, since a person may decide on one at any time. */
  before: Before | null
  /** A call that a person decided on, of which the reply tells what came. */
  decided?: ToolCall
}

class NothingToTell extends Error {}

/** For so long a decision waits for the words about what came of it. */
const TELL_MS = 45_000

export type RepliesService = ReturnType<typeof createRepliesService>

const message = (conversationId: string, values: Partial<MessageRow>): MessageRow => ({
  seq: null,
  id: randomUUID(),
  conversationId,
  role: 'user',
  content: '',
  status: 'complete',
  model: null,
  toolCalls: null,
  sources: null,
  createdAt: new Date().toISOString(),
  ...values,
})

/** Whether something was done or asked for with it, which then is not done a second time. */
const hasActed = ({ toolCalls, model }: MessageRow): boolean => Boolean(toolCalls?.length) || model === 'grammar'

/** What stands of the replies that another takes the place of; null where nothing was done with them. */
function standing(replaces: readonly MessageRow[]): Before | null {
  const acted = replaces.filter(hasActed)
  const [first] = acted
  if (!first) return null
  return {
    content: replaces.map(({ content }) => content).join('\n\n'),
    model: first.model,
    // one that was begun anew and failed holds the same ones
    toolCalls: [...new Map(acted.flatMap(({ toolCalls }) => toolCalls ?? []).map((call) => [call.id, call])).values()],
    sources: acted.flatMap(({ sources }) => sources ?? []),
  }
}

/** Replies, one at a time in each conversation. Every piece is on the disk before it is sent. */
export function createRepliesService({ db, conversations, answering, learnFrom, isActing, onUntold, events }: RepliesDeps) {
  const running = new Map<string, { stop: AbortController; done: Promise<void> }>()

  function checkFree(conversationId: string): void {
    if (running.has(conversationId)) throw conflict('busy', 'A reply is still on its way in this conversation.')
  }

  /** Finishes the reply's row, drops what it replaces and names a new conversation, in one write. */
  function finish(turn: Turn, end: Pick<MessageRow, 'status' | 'model' | 'content' | 'sources'>): Promise<void> {
    const { caller, conversation, reply, replaces, said } = turn
    const { content, model, status } = end
    const asked = said.at(-1)
    return db.write((tx) => {
      if (!db.get(ConversationTable, conversation.id)) return // deleted while it was answering
      tx.update(MessageTable, reply.id, end)
      if (
        asked?.role === 'user' &&
        status === 'complete' &&
        model !== 'grammar' &&
        model !== 'none' &&
        !replaces.some(({ status: was }) => was === 'complete')
      )
        learnFrom(tx, asked, caller)
      if (content !== '') for (const { id } of replaces) tx.remove(MessageTable, { id })
      const title = db.get(ConversationTable, conversation.id)?.title || titleOf(asked?.content ?? '', content) || 'Conversation'
      tx.update(ConversationTable, conversation.id, { title, updatedAt: new Date().toISOString() })
    })
  }

  async function answer(turn: Turn, sink: ReplySink, stop: AbortSignal): Promise<void> {
    const { caller, conversation, reply, said: before } = turn
    const signal = AbortSignal.any([sink.signal, stop])
    let said = ''
    let sources: MessageSource[] = []
    let kept = ''
    let pumping: Promise<void> | null = null

    /** Commits what is new, then sends it; what comes meanwhile goes with the next commit. */
    async function pump(): Promise<void> {
      while (kept.length < said.length) {
        const next = said
        await db.write((tx) => tx.update(MessageTable, reply.id, { content: next }))
        if (kept === '') sink.open({ conversationId: conversation.id, messageId: reply.id })
        sink.write(next.slice(kept.length))
        kept = next
      }
      pumping = null
    }
    let pumpFailed: unknown
    const cannotKeep = new AbortController()
    const onText = (text: string) => {
      said += text
      pumping ??= pump().catch((error: unknown) => {
        pumpFailed = error
        cannotKeep.abort() // what cannot be kept is not sent, so nobody needs the rest
      })
    }

    /** The others stay as they stand: a person may have decided on one meanwhile. */
    const onCall = (call: ToolCall) =>
      db.write((tx) => {
        const others = (db.get(MessageTable, reply.id)?.toolCalls ?? []).filter(({ id }) => id !== call.id)
        tx.update(MessageTable, reply.id, { toolCalls: [...others, lightCall(call)] })
      })

    /** Reads and asks in one write, for the same reason. */
    const onAsk: Question['onAsk'] = (ids, wordsFor) =>
      db.write((tx) => {
        const toolCalls = db.get(MessageTable, reply.id)?.toolCalls ?? []
        const meant = toolCalls.filter(({ id }) => ids.has(id))
        const words = wordsFor(meant)
        const waits = ({ id, status }: ToolCall) => ids.has(id) && status === 'asking'
        tx.update(MessageTable, reply.id, { toolCalls: toolCalls.map((call) => (waits(call) ? { ...call, question: words } : call)) })
        return { words, calls: meant }
      })

    try {
      const question: Question = {
        caller,
        conversationId: conversation.id,
        said: before,
        before: turn.before,
        signal: AbortSignal.any([signal, cannotKeep.signal]),
        onText,
        onCall,
        onAsk,
        onSources(found) {
          sources = found
        },
      }
      const answered: Answered = turn.decided ? await answering.tellOutcome(question, turn.decided) : await answering.answer(question)
      const { model, aborted: cut } = answered
      await pumping
      if (pumpFailed) throw pumpFailed
      const aborted = cut || signal.aborted
      await finish(turn, { status: aborted ? 'aborted' : 'complete', model, content: said, sources: sources.length > 0 ? sources : null })
      if (kept === '' && !aborted) sink.open({ conversationId: conversation.id, messageId: reply.id })
    } catch (error) {
      await pumping
      await finish(turn, { status: signal.aborted ? 'aborted' : 'failed', model: null, content: said, sources: null })
      if (!signal.aborted) throw error
    }
  }

  /** Runs a turn that `prepare` wrote; the conversation is taken from before that write until the reply's last byte. */
  async function run(conversationId: string, prepare: (tx: Transaction) => Turn, sink: ReplySink): Promise<void> {
    checkFree(conversationId)
    const stop = new AbortController()
    const { promise: done, resolve } = Promise.withResolvers<void>()
    running.set(conversationId, { stop, done })
    try {
      const turn = await db.write(prepare)
      sink.kept(conversationId)
      await answer(turn, sink, stop.signal)
    } finally {
      running.delete(conversationId)
      resolve()
    }
  }

  return {
    /** Says something and answers it. Throws 404 and 403 before anything is written, 409 `busy`, and what `Llm.generate` throws. */
    async send(
      caller: Caller,
      text: string,
      where: { conversationId?: string | undefined; deviceId?: string | undefined },
      sink: ReplySink,
    ): Promise<void> {
      const owner = conversations.deviceFor(caller, where.deviceId)
      const known = where.conversationId === undefined ? null : conversations.mustOwn(caller, where.conversationId)
      const conversationId = known?.id ?? randomUUID()
      const prepare = (tx: Transaction): Turn => {
        const conversation = known ?? conversations.begin(tx, conversationId, owner, titleOf(text, ''))
        const said = conversations.messages(conversation.id)
        const asked = message(conversation.id, { content: text })
        const reply = message(conversation.id, { role: 'assistant', status: 'streaming' })
        tx.insert(MessageTable, asked)
        tx.insert(MessageTable, reply)
        tx.update(ConversationTable, conversation.id, { updatedAt: asked.createdAt })
        tx.afterCommit(() => events.publish(chatMessageUser, { conversationId: conversation.id, deviceId: owner.deviceId, text }))
        return { caller, conversation, said: [...said, asked], reply, replaces: [], before: null }
      }
      await run(conversationId, prepare, sink)
    },

    /** Answers the last thing said once more; the old reply stays until the new one has begun. Throws 404, 409 where nothing was said, and 409 `busy`. */
    async regenerate(caller: Caller, id: string, sink: ReplySink): Promise<void> {
      const conversation = conversations.mustOwn(caller, id)
      const prepare = (tx: Transaction): Turn => {
        const said = conversations.messages(id)
        const last = said.findLastIndex(({ role }) => role === 'user')
        if (last < 0) throw conflict('conflict', 'Nothing was said in this conversation yet.')
        if (isActing(id)) throw conflict('busy', 'What was allowed in this conversation is still being done.')
        const replaces = said.slice(last + 1)
        const before = standing(replaces)
        const toolCalls = before && before.toolCalls.length > 0 ? before.toolCalls : null
        const reply = message(id, { role: 'assistant', status: 'streaming', toolCalls })
        tx.insert(MessageTable, reply)
        return { caller, conversation, said: said.slice(0, last + 1), reply, replaces, before }
      }
      await run(id, prepare, sink)
    },

    /**
     * Tells what came of a call that was decided on beside the chat, in a reply of its own. Not while others of the same answer still ask,
     * nor while somebody is being answered there. Never rejects.
     */
    async tellOutcome(caller: Caller, conversationId: string, decided: ToolCall & { messageId: string }): Promise<void> {
      if (running.has(conversationId)) return
      const { messageId, ...call } = decided
      const silent: ReplySink = {
        kept: () => undefined,
        open: () => undefined,
        write: () => undefined,
        signal: AbortSignal.timeout(TELL_MS),
      }
      const prepare = (tx: Transaction): Turn => {
        const conversation = conversations.mustOwn(caller, conversationId)
        const said = conversations.messages(conversationId)
        const last = said.at(-1)
        if (last?.id !== messageId || last.toolCalls?.some(({ status }) => status === 'asking')) throw new NothingToTell()
        const reply = message(conversationId, { role: 'assistant', status: 'streaming' })
        tx.insert(MessageTable, reply)
        return { caller, conversation, said, reply, replaces: [], before: null, decided: call }
      }
      await run(conversationId, prepare, silent).catch((error: unknown) => {
        if (!(error instanceof NothingToTell)) onUntold(error)
      })
    },

    /** Whether somebody is being answered. */
    isBusy: () => running.size > 0,

    /** Ends the reply of a conversation that is going away, and waits for that. */
    async stopReply(conversationId: string): Promise<void> {
      const reply = running.get(conversationId)
      reply?.stop.abort()
      await reply?.done
    },

    /** Ends every reply; what was said so far is kept. */
    async stopAll(): Promise<void> {
      for (const { stop } of running.values()) stop.abort()
      await Promise.all([...running.values()].map(({ done }) => done))
    },
  }
}
