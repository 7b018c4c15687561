import { createContext } from 'svelte'
import type { Hearth } from '../../app-context.ts'
import { t } from '../../messages/messages.ts'
import { Assistant } from './assistant.state.svelte.ts'
import { ConversationList } from './conversation-list.state.svelte.ts'
import { createDrafts } from './drafts.ts'
import { createPartingCalls } from './parting-calls.ts'
import { saveFile } from './save-file.ts'
import { Talk, type TalkDeps } from './talk.state.svelte.ts'
import type { Turn } from './turn.svelte.ts'

type Deps = Pick<Hearth, 'client' | 'router' | 'toasts'>
type RenderMarkdown = typeof import('./markdown.ts').renderMarkdown

/** How many talks stay as they are while others are looked at. */
const KEPT_TALKS = 8

/** The chat page of one person: their conversations, the one that is open, and those still being written to. */
export class Chat {
  readonly list: ConversationList
  readonly assistant: Assistant
  talk = $state.raw<Talk>() as Talk
  /** The title of the open conversation is being edited. */
  renaming = $state(false)
  /** Null until the markdown renderer has been fetched; text is shown as it is meanwhile. */
  render = $state.raw<RenderMarkdown | null>(null)
  readonly #deps: Deps
  readonly #talkDeps: TalkDeps
  readonly #talks = new Map<string, Talk>()
  #blank: Talk

  /** `who` tells people who share a browser apart. */
  constructor(deps: Deps, who: string) {
    const { chat, models } = deps.client
    this.#deps = deps
    this.list = new ConversationList({ chat, parting: createPartingCalls() })
    this.assistant = new Assistant(models)
    this.#talkDeps = {
      chat,
      drafts: createDrafts(window.localStorage, who),
      begun: (talk, id) => this.#begun(talk, id),
      stored: (talk) => this.list.put(talk),
      knows: (id) => this.list.find(id) !== undefined,
    }
    this.#blank = new Talk(null, this.#talkDeps)
    this.talk = this.#blank
  }

  /** Opens a conversation, or with null a talk that has not begun. */
  show(id: string | null): void {
    if (this.talk.id !== id) {
      this.talk.rest()
      this.renaming = false
      this.talk = id === null ? this.#begin() : this.#open(id)
    }
    void this.talk.load()
  }

  /** Looks at what happened elsewhere meanwhile. */
  refresh(): void {
    void this.list.load()
    void this.talk.load()
  }

  async fetchRenderer(): Promise<void> {
    this.render ??= (await import('./markdown.ts')).renderMarkdown
  }

  async rename(id: string, title: string): Promise<void> {
    const talk = this.#talks.get(id)
    const before = talk?.title ?? ''
    if (talk) talk.title = title
    try {
      await this.list.rename(id, title)
    } catch {
      if (talk) talk.title = before
      this.#deps.toasts.show(t('chat.renameFailed'), { tone: 'loss' })
    }
  }

  /** Deletes a conversation, after the time to undo it. */
  remove(id: string): void {
    const { router, toasts } = this.#deps
    const title = this.list.find(id)?.title ?? t('chat.untitled')
    const aside = this.list.setAside(id)
    const wasOpen = this.talk.id === id
    if (wasOpen) router.go('/chat')
    const undo = () => {
      aside.keep()
      if (wasOpen && router.place.path === '/chat') router.go(`/chat/${id}`)
    }
    const drop = async () => {
      this.#talks.get(id)?.stop()
      try {
        await aside.drop()
        this.#talks.delete(id)
      } catch {
        toasts.show(t('chat.deleteFailed', title), { tone: 'loss' })
      }
    }
    toasts.undoable(t('chat.deleted', title), t('ui.undo'), undo, (why) => why !== 'acted' && void drop())
  }

  /** Takes a message that cannot be sent where it was said into the draft of a new talk. */
  carryOver(talk: Talk, turn: Turn): void {
    talk.turns = talk.turns.filter((other) => other !== turn)
    this.#begin().takeBack(turn)
  }

  /** Saves a conversation as Markdown where the browser keeps its downloads. */
  async export(id: string): Promise<void> {
    try {
      const answer = await this.#deps.client.chat.export({ params: { id } })
      saveFile(`${this.list.find(id)?.title ?? t('chat.untitled')}.md`, await answer.blob())
    } catch {
      this.#deps.toasts.show(t('chat.exportFailed'), { tone: 'loss' })
    }
  }

  #open(id: string): Talk {
    const talk = this.#talks.get(id) ?? new Talk(id, this.#talkDeps)
    talk.title ||= this.list.find(id)?.title ?? ''
    this.#keep(id, talk)
    return talk
  }

  #begin(): Talk {
    if (this.#blank.id !== null) this.#blank = new Talk(null, this.#talkDeps)
    return this.#blank
  }

  #keep(id: string, talk: Talk): void {
    this.#talks.delete(id)
    this.#talks.set(id, talk)
    const idle = [...this.#talks].filter(([, other]) => other !== talk && !other.replying)
    for (const [old] of idle.slice(0, Math.max(0, this.#talks.size - KEPT_TALKS))) this.#talks.delete(old)
  }

  #begun(talk: Talk, id: string): void {
    this.#keep(id, talk)
    const now = new Date().toISOString()
    const title = talk.turns[0]?.content.replaceAll(/\s+/g, ' ').slice(0, 60) ?? ''
    talk.title = title
    this.list.put({ id, deviceId: '', title, createdAt: now, updatedAt: now })
    const { place } = this.#deps.router
    if (this.talk === talk && place.route.name === 'chat' && !place.params.id) this.#deps.router.go(`/chat/${id}`, { replace: true })
  }
}

const chats = new WeakMap<Hearth['client'], { who: string; chat: Chat }>()

/**
 * The chat of a window for the person signed in. It outlives the page, so that a reply goes on being written while
 * another page is looked at.
 */
export function chatOf({ client, router, toasts, session }: Hearth): Chat {
  const who = session.user ? 'owner' : (session.device?.id ?? 'nobody')
  const kept = chats.get(client)
  if (kept?.who === who) return kept.chat
  const chat = new Chat({ client, router, toasts }, who)
  chats.set(client, { who, chat })
  return chat
}

export const [useChat, provideChat] = createContext<Chat>()
