import { z } from 'zod'

const ServerMessage = z.object({ type: z.string(), payload: z.unknown() })
type Listener = (payload: unknown) => void

const FIRST_WAIT_MS = 500
const LAST_WAIT_MS = 20_000
const PING_MS = 25_000
const PONG_MS = 10_000

interface LiveHooks {
  /** Called when the socket closed, to learn whether the server or only the right to it is gone. Resolves false to stay closed. */
  mayReconnect(): Promise<boolean>
}

/** The live line to the server: says hello, keeps it warm, and comes back by itself with growing waits. */
export class Live {
  connected = $state(false)
  /** False while the server gives no answer at all. */
  online = $state(true)
  heardAt = $state<number | null>(null)
  readonly #listeners = new Map<string, Set<Listener>>()
  readonly #topics = new Set<string>()
  readonly #hooks: LiveHooks
  #socket: WebSocket | null = null
  #timers: ReturnType<typeof setTimeout>[] = []
  #waitMs = FIRST_WAIT_MS
  #wanted = false

  constructor(hooks: LiveHooks) {
    this.#hooks = hooks
  }

  /** Notes whether the server answered something. */
  heard(reached: boolean): void {
    this.online = reached
    if (reached) this.heardAt = Date.now()
    else if (this.#wanted && !this.#socket) this.#later()
  }

  /** Calls `listener` with the payload of every message of that type; returns what ends it. Payloads are still to be parsed. */
  on(type: string, listener: Listener): () => void {
    const set = this.#listeners.get(type) ?? new Set<Listener>()
    this.#listeners.set(type, set.add(listener))
    return () => set.delete(listener)
  }

  /** As `on`, for a topic: subscribes to it, also after the line was cut. */
  subscribe(topic: string, listener: Listener): () => void {
    const first = !this.#listeners.get(topic)?.size
    const off = this.on(topic, listener)
    this.#topics.add(topic)
    if (first) this.send('subscribe', { topics: [topic] })
    return () => {
      off()
      if (this.#listeners.get(topic)?.size) return
      this.#topics.delete(topic)
      this.send('unsubscribe', { topics: [topic] })
    }
  }

  send(type: string, payload: unknown = {}): void {
    if (this.#socket?.readyState === WebSocket.OPEN) this.#socket.send(JSON.stringify({ type, payload }))
  }

  start(): void {
    if (this.#wanted) return
    this.#wanted = true
    this.#open()
  }

  stop(): void {
    this.#wanted = false
    this.#clear()
    this.#socket?.close()
    this.#socket = null
    this.connected = false
  }

  /** Tries at once instead of after the wait. */
  retry(): void {
    this.#waitMs = FIRST_WAIT_MS
    if (this.#wanted && !this.connected) void this.#closed()
  }

  #open(): void {
    this.#clear()
    const scheme = window.location.protocol === 'https:' ? 'wss' : 'ws'
    const socket = new WebSocket(`${scheme}://${window.location.host}/ws`)
    this.#socket = socket
    socket.onopen = () => {
      this.connected = true
      this.heard(true)
      this.#waitMs = FIRST_WAIT_MS
      this.send('hello')
      if (this.#topics.size > 0) this.send('subscribe', { topics: [...this.#topics] })
      this.#keepWarm()
    }
    socket.onmessage = ({ data }) => this.#receive(data)
    socket.onclose = () => socket === this.#socket && void this.#closed()
  }

  #receive(data: unknown): void {
    let message: unknown
    try {
      message = JSON.parse(String(data))
    } catch {
      return // no message of ours
    }
    const parsed = ServerMessage.safeParse(message)
    if (!parsed.success) return
    this.heard(true)
    if (parsed.data.type === 'pong') this.#keepWarm()
    for (const listener of this.#listeners.get(parsed.data.type) ?? []) listener(parsed.data.payload)
  }

  #keepWarm(): void {
    this.#clear()
    this.#timers = [setTimeout(() => this.send('ping'), PING_MS), setTimeout(() => this.#socket?.close(), PING_MS + PONG_MS)]
  }

  async #closed(): Promise<void> {
    this.#clear()
    this.#socket = null
    this.connected = false
    if (this.#wanted && (await this.#hooks.mayReconnect())) this.#later()
  }

  #later(): void {
    if (!this.#wanted || this.#timers.length > 0) return
    const waitMs = this.#waitMs * (0.75 + Math.random() / 2)
    this.#waitMs = Math.min(this.#waitMs * 2, LAST_WAIT_MS)
    this.#timers = [setTimeout(() => this.#open(), waitMs)]
  }

  #clear(): void {
    for (const timer of this.#timers) clearTimeout(timer)
    this.#timers = []
  }
}
