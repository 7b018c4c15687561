import { createHash } from 'node:crypto'
import { parentPort, workerData } from 'node:worker_threads'
import { IcsError } from './ics-blocks.ts'
import { readICalendar } from './ics-events.ts'
import type { IcsNews, IcsOrder } from './ics-reader.ts'

const CHUNK = 200
const { body, zone } = workerData as IcsOrder
const tell = (news: IcsNews) => parentPort?.postMessage(news)

try {
  const events = await readICalendar(new TextDecoder().decode(body), zone, new Date())
  for (let at = 0; at < events.length; at += CHUNK) tell({ kind: 'some', events: events.slice(at, at + CHUNK) })
  tell({
    kind: 'all',
    digest: createHash('sha256')
      .update(JSON.stringify([zone, events]))
      .digest('hex'),
  })
} catch (error) {
  if (!(error instanceof IcsError)) throw error
  tell({ kind: 'refused', why: error.message })
}
