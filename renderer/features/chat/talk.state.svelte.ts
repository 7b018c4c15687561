import type { HearthClient } from '../../api.ts'
import { mayHaveArrived } from './chat-failure.ts'
import { type Drafts, NEW_TALK } from './drafts.ts'
import { mergeTurns, Turn } from './turn.svelte.ts'
import { writeReply } from './write-reply.ts'

/** A conversation with its messages, as the server has it. */
export type StoredTalk = Awaited<ReturnType<HearthClient['chat']['get']>>

export interface TalkDeps {
  chat: HearthClient['chat']
  drafts: Drafts
  /** The server gave a new talk its id. */
  begun(talk: Talk, id: string): void
  /** The server told how the talk now stands. */
  stored(talk: StoredTalk): void
  /** Whether a conversation was there before. */
  knows(id: string): boolean
}

const LOOK_MS = 2000
/** A reply is given up on after being found unchanged this often. */
const LOOKS = 3
/** A reply that began longer ago than this is not being written any more. */
const FRESH_MS = 10 * 60_000

/** One conversation: what was said, the reply being written, and the text not sent yet. */
export class Talk {
  id = $state.raw<string | null>(null)
  title = $state('')
  turns = $state.raw<Turn[]>([])
  loading = $state(false)
  /** Why it could not be opened. */
  error = $state.raw<unknown>(null)
  draft = $state('')
  /** False where the browser would not keep the draft over a reload. */
  draftKept = $state(true)
  replying = $state(false)
  /** The last reply is being written in another window, and grows here by looking now and then. */
  growing = $state(false)
  /** The reply that ended last, however it did. */
  ended = $state.raw<Turn | null>(null)
  readonly #deps: TalkDeps
  /** Replies that another has taken the place of; the server drops them when that one has ended. */
  readonly #replaced = new Set<string>()
  #abort: AbortController | null = null
  #look: ReturnType<typeof setTimeout> | undefined

  constructor(id: string | null, deps: TalkDeps) {
    this.id = id
    this.#deps = deps
    this.draft = deps.drafts.read(id ?? NEW_TALK)
  }

  // Getters, since a derived value ends with the component that happened to be made around it, and a talk outlives that.
  get last(): Turn | undefined {
    return this.turns.at(-1)
  }

  /** The last thing said by a person has no reply, and none is under way. */
  get unanswered(): boolean {
    return !this.replying && this.last?.role === 'user' && this.last.state === 'complete'
  }

  /** Reads what the server has stored. Never rejects: look at `error`. */
  async load(): Promise<void> {
    if (this.id === null || this.replying || this.loading) return
    this.loading = true
    try {
      const { title } = this
      this.#take(await this.#deps.chat.get({ params: { id: this.id } }), title)
      this.error = null
      this.#dropSaidDraft()
      this.#lookAgain(LOOKS)
    } catch (error) {
      this.error = error
    }
    this.loading = false
  }

  write(text: string): void {
    this.draft = text
    this.#keep()
  }

  /** Says the draft. */
  async send(): Promise<void> {
    const text = this.draft.trim()
    if (text === '' || this.replying) return
    this.draft = ''
    await this.#say(new Turn('user', text, 'sending'))
  }

  /** Tries again what failed: the message where it did not arrive, the reply where only that is missing. */
  async retry(turn: Turn): Promise<void> {
    if (this.replying) return
    turn.failure = null
    if (turn.state === 'unsent') await this.#settle(turn)
    if (turn.state === 'unsent') await this.#say(turn)
    else await this.regenerate()
  }

  /** Takes an unsent message back into the draft. */
  takeBack(turn: Turn): void {
    this.turns = this.turns.filter((other) => other !== turn)
    this.write([turn.content, this.draft.trim()].filter(Boolean).join('\n\n'))
  }

  /** Replies once more to the last thing said; the old reply goes when the new one begins. */
  async regenerate(): Promise<void> {
    const { id, last: asked, turns: before } = this
    if (id === null || !asked || this.replying) return
    const reply = new Turn('assistant', '', 'streaming')
    asked.failure = null
    this.turns = [...before.filter((turn) => turn !== asked || turn.role === 'user'), reply]
    const replaces = asked.role === 'user' ? null : asked.id
    const taken = await this.#stream(
      reply,
      (signal) => this.#deps.chat.regenerate({ params: { id } }, { signal }),
      () => replaces !== null && this.#replaced.add(replaces),
    )
    if (taken) return
    this.turns = before
    asked.failure = reply.failure
  }

  /** Allows or declines what the assistant asks to do. Rejects with the server's failure; what is shown is then what the server has. */
  async decide(turn: Turn, callId: string, approve: boolean): Promise<void> {
    if (this.id === null) return
    try {
      turn.adopt(await this.#deps.chat.decide({ params: { id: this.id, callId }, body: { approve } }))
      await this.#settle() // a message of its own tells what came of it
    } catch (error) {
      await this.#settle()
      throw error
    }
  }

  /** Ends the reply being written; what was said so far stays. */
  stop(): void {
    this.#abort?.abort()
  }

  /** The page looks elsewhere: a reply goes on, looking for one does not. */
  rest(): void {
    clearTimeout(this.#look)
    this.growing = false
  }

  async #say(turn: Turn): Promise<void> {
    const reply = new Turn('assistant', '', 'streaming')
    turn.state = 'sending'
    this.turns = [...this.turns.filter((other) => other !== turn), turn, reply]
    const body = { message: turn.content, ...(this.id === null ? {} : { conversationId: this.id }) }
    const taken = await this.#stream(
      reply,
      (signal) => this.#deps.chat.send({ body }, { signal }),
      () => {
        turn.state = 'complete'
      },
    )
    if (taken) return
    this.turns = this.turns.filter((other) => other !== reply)
    turn.state = 'unsent'
    turn.failure = reply.failure
    if (turn.failure?.keptIn) this.#arrived(turn, turn.failure.keptIn)
    this.#keep()
    if (mayHaveArrived(turn.failure)) await this.#settle(turn)
    if (turn.state !== 'unsent') this.#passOn(turn)
    else if (turn.failure === null) this.takeBack(turn)
  }

  /** The server said that it kept the message: only its reply is to be had again. */
  #arrived(turn: Turn, id: string): void {
    turn.state = 'complete'
    if (this.id === null) this.#begin(id)
  }

  /** The server has the message after all: what failed is the reply. */
  #passOn(turn: Turn): void {
    const reply = this.turns[this.turns.indexOf(turn) + 1]
    if (reply?.role !== 'assistant') return
    if (reply.state !== 'complete') reply.failure = turn.failure
    turn.failure = null
  }

  /** Reads a reply into `reply`. Resolves whether the server took the request; never rejects. */
  async #stream(reply: Turn, call: (signal: AbortSignal) => Promise<Response>, sent?: () => unknown): Promise<boolean> {
    this.rest()
    this.#abort = new AbortController()
    const { signal } = this.#abort
    this.replying = true
    const taken = await writeReply(reply, () => call(signal), {
      signal,
      begun: ({ conversationId }) => {
        sent?.()
        if (this.id === null) this.#begin(conversationId)
        this.#keep()
      },
    })
    this.replying = false
    if (!taken) return false
    this.ended = reply
    await this.#settle()
    return true
  }

  #begin(id: string): void {
    this.#deps.drafts.write(NEW_TALK, '')
    this.id = id
    this.#deps.begun(this, id)
  }

  /** Stores what the server does not have yet: messages on their way or refused, and the draft. */
  #keep(): void {
    const unsent = this.turns.filter(({ state }) => state === 'unsent' || state === 'sending').map(({ content }) => content)
    this.draftKept = this.#deps.drafts.write(this.id ?? NEW_TALK, [...unsent, this.draft].filter(Boolean).join('\n\n'))
  }

  /**
   * Brings the turns in line with what is stored, also where the connection broke after the server took `unsent`. Where that cannot be read,
   * they stay as they are.
   */
  async #settle(unsent?: Turn): Promise<void> {
    const { title } = this
    const stored = await this.#stored(unsent).catch(() => null)
    if (!stored || this.replying) return
    this.#take(stored, title)
    if (this.id === null) this.#begin(stored.id)
    if (unsent) this.#keep()
  }

  async #stored(unsent: Turn | undefined): Promise<StoredTalk | null> {
    const { chat, knows } = this.#deps
    if (this.id !== null) return chat.get({ params: { id: this.id } })
    const [newest] = await chat.list({ query: { limit: 1 } })
    if (!unsent || !newest || knows(newest.id)) return null
    const talk = await chat.get({ params: { id: newest.id } })
    return talk.messages[0]?.content === unsent.content ? talk : null
  }

  /** A page that was closed while its message was on the way keeps it as a draft; it may have arrived. */
  #dropSaidDraft(): void {
    const said = this.turns.findLast(({ role }) => role === 'user')
    if (said && said.state === 'complete' && said.content === this.draft.trim()) this.write('')
  }

  /** A talk that was renamed since it was called `titleBefore` knows better than an answer asked for before that. */
  #take(stored: StoredTalk, titleBefore: string): void {
    if (this.title === titleBefore) this.title = stored.title || titleBefore
    const messages = stored.messages.filter(({ id }) => !this.#replaced.has(id))
    this.turns = mergeTurns(this.turns, messages, this.ended)
    this.#deps.stored({ ...stored, title: this.title })
  }

  /** The server calls a reply aborted that is being written for another window. */
  #lookAgain(left: number): void {
    const { last } = this
    this.rest()
    if (last?.state !== 'aborted' || left === 0 || Date.now() - Date.parse(last.createdAt) > FRESH_MS) return
    const before = last.content
    this.#look = setTimeout(async () => {
      await this.#settle()
      if (this.replying) return
      const grew = this.last?.content !== before
      this.#lookAgain(grew ? LOOKS : left - 1)
      this.growing = grew && this.last?.state === 'aborted'
    }, LOOK_MS)
  }
}
