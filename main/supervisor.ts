import { ServerMessage, type ShellMessage } from '../server/control.contract.ts'
import { texts } from './texts.ts'

/** What Electron's utility process and a plain Node child have in common. */
export interface ServerProcess {
  post(message: ShellMessage): void
  /** Ends it at once, without asking. */
  kill(): void
  onMessage(listener: (message: unknown) => void): void
  /** Told exactly once, also when the process could not be started. */
  onExit(listener: (code: number | null) => void): void
}

export type ServerState =
  | { kind: 'starting' }
  | { kind: 'ready'; url: string; setupPin: string | null }
  | { kind: 'restarting' }
  | { kind: 'stopped' }
  | { kind: 'gave-up'; reason: string }

/** An answer to something the shell asked for. */
export type ServerReply = Extract<ServerMessage, { kind: 'ticket' | 'password-reset' }>

export interface SupervisorTimes {
  /** Waits before the first, second, … restart in a row; after the last one it gives up. */
  backoffMs: readonly number[]
  /** A server that ran this long was healthy; its next crash starts the backoff afresh. */
  healthyAfterMs: number
  /** How long a server asked to stop may take. */
  stopGraceMs: number
}

export interface SupervisorDeps {
  fork(): ServerProcess
  onState(state: ServerState): void
  onReply(reply: ServerReply): void
  times?: SupervisorTimes
}

export interface Supervisor {
  readonly state: ServerState
  /** Starts the server unless it runs; a server being stopped is started again once it has ended. */
  start(): void
  /** Resolves once the server has ended. */
  stop(): Promise<void>
  /** Returns false where no server runs to hear it. */
  post(message: ShellMessage): boolean
}

const TIMES: SupervisorTimes = { backoffMs: [250, 1_000, 4_000, 15_000], healthyAfterMs: 60_000, stopGraceMs: 5_000 }

/** Exit statuses after which starting again cannot help. */
const fatalExits: Readonly<Record<number, string>> = texts.exit

/** A server that listens on every address is reached at this machine's own. */
const ownAddress = (url: string): string => url.replace('//0.0.0.0:', '//127.0.0.1:').replace('//[::]:', '//[::1]:')

interface Life {
  process: ServerProcess
  startedAt: number
  fatal: string | null
  /** It was asked to stop, so that its end is no crash. */
  asked: boolean
  ended: Promise<void>
}

/** Keeps one server alive: restarts it after a crash, ever more slowly, and gives up where that cannot help. */
export function createSupervisor({ fork, onState, onReply, times = TIMES }: SupervisorDeps): Supervisor {
  let state: ServerState = { kind: 'stopped' }
  let life: Life | null = null
  let wanted = false
  let crashes = 0
  let restart: NodeJS.Timeout | undefined
  let stopping: Promise<void> | null = null

  function become(next: ServerState): void {
    state = next
    onState(next)
  }

  function hear(from: Life, raw: unknown): void {
    const parsed = ServerMessage.safeParse(raw)
    // Anything else on the channel is not meant for the shell.
    if (!parsed.success || from !== life || from.asked) return
    const message = parsed.data
    if (message.kind === 'ready') become({ ...message, url: ownAddress(message.url) })
    else if (message.kind === 'setup-pin') {
      if (state.kind === 'ready') become({ ...state, setupPin: message.pin })
    } else if (message.kind === 'fatal') {
      from.fatal = message.reason
      endSoon(from)
    } else onReply(message)
  }

  function endSoon({ process, ended }: Life): void {
    const timer = setTimeout(() => process.kill(), times.stopGraceMs)
    void ended.then(() => clearTimeout(timer))
  }

  /** Why starting again cannot help after this end, or null where it can. */
  function finalReason({ startedAt, fatal }: Life, code: number | null): string | null {
    const told = fatal ?? (code === null ? undefined : fatalExits[code])
    if (told !== undefined) return told
    if (Date.now() - startedAt >= times.healthyAfterMs) crashes = 0
    return crashes < times.backoffMs.length ? null : texts.crashedTooOften(crashes + 1, code)
  }

  function afterEnd(ended: Life, code: number | null): void {
    life = null
    if (ended.asked) return
    const reason = finalReason(ended, code)
    if (reason !== null) {
      wanted = false
      become({ kind: 'gave-up', reason })
      return
    }
    become({ kind: 'restarting' })
    restart = setTimeout(launch, times.backoffMs[crashes])
    crashes += 1
  }

  function launch(): void {
    if (state.kind !== 'restarting') become({ kind: 'starting' })
    const process = fork()
    const ended = Promise.withResolvers<void>()
    const current: Life = { process, startedAt: Date.now(), fatal: null, asked: false, ended: ended.promise }
    life = current
    process.onMessage((raw) => hear(current, raw))
    process.onExit((code) => {
      afterEnd(current, code)
      ended.resolve()
    })
  }

  async function end(): Promise<void> {
    clearTimeout(restart)
    if (life) {
      life.asked = true
      life.process.post({ kind: 'stop' })
      endSoon(life)
      await life.ended
    }
    if (!wanted && state.kind !== 'stopped') become({ kind: 'stopped' })
  }

  return {
    get state() {
      return state
    },
    start() {
      if (wanted) return
      wanted = true
      crashes = 0
      // A server that is still stopping holds the port and the data folder.
      void (stopping ?? Promise.resolve()).then(() => {
        if (wanted && !life) launch()
      })
    },
    stop() {
      wanted = false
      stopping ??= end().finally(() => {
        stopping = null
      })
      return stopping
    },
    post(message) {
      life?.process.post(message)
      return life !== null
    },
  }
}
