import { fileURLToPath } from 'node:url'
import { Worker } from 'node:worker_threads'
import { IcsError } from './ics-blocks.ts'
import type { OutsideEvent } from './ics-events.ts'

export interface IcsOrder {
  body: Uint8Array
  /** The household’s zone. */
  zone: string
}

export type IcsNews = { kind: 'some'; events: OutsideEvent[] } | { kind: 'all'; digest: string } | { kind: 'refused'; why: string }

export interface OutsideCalendar {
  events: OutsideEvent[]
  /** The same for the same events. */
  digest: string
}

const WAIT_MS = 15_000
const MAX_MEMORY_MB = 256

// bundled, it lies beside this file under its built name
const WORKER = fileURLToPath(new URL(import.meta.url.endsWith('.ts') ? './ics-worker.ts' : './ics-worker.js', import.meta.url))

/** Reads a calendar in a thread of its own, in bounded time and memory; `signal` ends it. Throws {@link IcsError}. */
export function readIcs(order: IcsOrder, signal?: AbortSignal, waitMs = WAIT_MS): Promise<OutsideCalendar> {
  return new Promise((resolve, reject) => {
    const events: OutsideEvent[] = []
    const worker = new Worker(WORKER, {
      workerData: order,
      execArgv: [],
      env: {},
      resourceLimits: { maxOldGenerationSizeMb: MAX_MEMORY_MB },
    })
    const tooSlow = setTimeout(() => end(() => reject(new IcsError('takes too long to read'))), waitMs)
    const stop = () => end(() => reject(new IcsError('was not read to its end')))
    signal?.addEventListener('abort', stop, { once: true })
    const end = (then: () => void) => {
      clearTimeout(tooSlow)
      signal?.removeEventListener('abort', stop)
      then()
      void worker.terminate()
    }
    worker.on('message', (news: IcsNews) => {
      if (news.kind === 'some') events.push(...news.events)
      else if (news.kind === 'all') end(() => resolve({ events, digest: news.digest }))
      else end(() => reject(new IcsError(news.why)))
    })
    worker.once('error', () => end(() => reject(new IcsError('cannot be read'))))
    worker.once('exit', () => end(() => reject(new IcsError('cannot be read'))))
    if (signal?.aborted) stop()
  })
}
