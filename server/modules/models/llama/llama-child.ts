import { fork } from 'node:child_process'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import type { Logger } from '../../../kit/log.ts'
import { HostNews, HostOrder } from './llama-protocol.ts'

/** What a process, its dynamic loader and its graphics driver need; no setting of this service, and so no secret, is among it. */
const PASSED_ON =
  /^(PATH|HOME|USERPROFILE|LANG|TMPDIR|TEMP|TMP|SYSTEMROOT|WINDIR|APPDATA|LOCALAPPDATA|PROGRAMDATA|PROGRAMFILES|LD_LIBRARY_PATH|XDG_(DATA_DIRS|RUNTIME_DIR)|(CUDA|HIP|ROCR|GGML|VK)_\w+)$/i

/** A running model process. */
export interface LlamaChild {
  readonly pid: number | undefined
  /** Throws on what the process could not understand. */
  send(order: HostOrder): void
  /** Ends it at once; it has nothing to save. */
  kill(): void
  /** Resolves when it has ended, with the signal that ended it. */
  readonly exited: Promise<NodeJS.Signals | null>
}

// bundled, the host lies beside this file under its built name
const HOST = fileURLToPath(new URL(import.meta.url.endsWith('.ts') ? './llama-host.ts' : './llama-host.js', import.meta.url))

function environment(): NodeJS.ProcessEnv {
  const passed = Object.entries(process.env).filter(([name]) => PASSED_ON.test(name))
  return { ...Object.fromEntries(passed), NODE_NO_WARNINGS: '1', ...(process.versions.electron && { ELECTRON_RUN_AS_NODE: '1' }) }
}

/** Starts a model process; what it says goes to `onNews`, its standard error to the log. */
export function startLlamaChild(log: Logger, onNews: (news: HostNews) => void): LlamaChild {
  const child = fork(HOST, { env: environment(), execArgv: [], stdio: ['ignore', 'ignore', 'pipe', 'ipc'] })
  const exited = new Promise<NodeJS.Signals | null>((resolve) => {
    child.once('exit', (_code, signal) => resolve(signal))
    child.once('error', (error) => {
      log.error({ err: error }, 'the model process could not be started')
      if (child.pid === undefined) resolve(null)
    })
  })
  if (child.stderr) createInterface({ input: child.stderr }).on('line', (line) => log.debug({ from: 'llama' }, line.slice(0, 1000)))
  child.on('message', (message) => {
    const news = HostNews.safeParse(message)
    if (news.success) onNews(news.data)
    else log.error({ issues: news.error.issues }, 'the model process said something unknown')
  })
  return {
    pid: child.pid,
    send(order) {
      // its end is told by `exited`; an order that misses it is lost with it
      if (child.connected) child.send(HostOrder.parse(order), (error) => error && log.debug({ err: error }, 'order lost'))
    },
    kill: () => void child.kill('SIGKILL'),
    exited,
  }
}
