import { percentile } from './support/measure.ts'
import { bm25 } from './support/recall-baseline.ts'
import { readTalks, type Talk } from './support/recall-talks.ts'
import { credentials, startServer } from './support/server-process.ts'

/**
 * How much of the evidence `GET /api/memory/chunks?q` finds with what ships (no model), against plain full text over the same texts:
 * one chunk a turn in order, the session as category. The path of the conversations is the argument; they are not part of Hearth.
 */
const AT = [5, 10, 20] as const
const AIM = '≥ 1.20 (better 1.35)'

type Form = 'with the speaker’s name' | 'text alone'
type Recall = [number, number, number]

const path = process.argv.slice(2).find((argument) => !argument.startsWith('-'))
const talks = readTalks(path)

const recallOf = (found: readonly string[], evidence: ReadonlySet<string>): Recall =>
  AT.map((k) => found.slice(0, k).filter((id) => evidence.has(id)).length / evidence.size) as Recall
const mean = (rows: readonly Recall[]): Recall =>
  AT.map((_, at) => (100 * rows.reduce((sum, row) => sum + (row[at] ?? 0), 0)) / rows.length) as Recall
const shown = (recall: Recall) => recall.map((value) => value.toFixed(1).padStart(5)).join(' ')

function line(name: string, ours: readonly Recall[], plain: readonly Recall[], aim = ''): void {
  const [a, b] = [mean(ours), mean(plain)]
  const ratios = AT.map((_, at) => ((a[at] ?? 0) / (b[at] ?? 1)).toFixed(2)).join(' ')
  process.stdout.write(`${name.padEnd(16)} ours ${shown(a)}   BM25 ${shown(b)}   ratio ${ratios} ${aim}\n`)
}

async function measure({ turns, questions }: Talk, form: Form, times: number[]): Promise<{ ours: Recall[]; plain: Recall[] }> {
  const texts = turns.map(({ speaker, text }) => (form === 'text alone' ? text : `${speaker}: ${text}`))
  const hearth = await startServer()
  const baseline = bm25(texts)
  try {
    const { key } = await credentials(hearth)
    const ask = async (url: string, init: RequestInit = {}) => {
      const answer = await fetch(`${hearth.url}${url}`, {
        ...init,
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      })
      if (!answer.ok) throw new Error(`${url} answered ${answer.status}: ${await answer.text()}`)
      return answer.json()
    }
    const turnOf = new Map<string, string>()
    for (const [at, { id, session, observedAt }] of turns.entries()) {
      const body = JSON.stringify({ source: 'note', content: texts[at], category: session, observedAt })
      const { chunk } = (await ask('/api/memory/chunks', { method: 'POST', body })) as { chunk: { id: string } }
      turnOf.set(chunk.id, id)
    }
    const ours: Recall[] = []
    const plain: Recall[] = []
    for (const { question, evidence } of questions) {
      const started = performance.now()
      const { chunks } = (await ask(`/api/memory/chunks?limit=20&q=${encodeURIComponent(question)}`)) as { chunks: { id: string }[] }
      times.push(performance.now() - started)
      ours.push(
        recallOf(
          chunks.map(({ id }) => turnOf.get(id) ?? ''),
          evidence,
        ),
      )
      plain.push(
        recallOf(
          baseline.search(question, 20).map((at) => turns[at]?.id ?? ''),
          evidence,
        ),
      )
    }
    return { ours, plain }
  } finally {
    baseline.close()
    await hearth.stop()
  }
}

if (!talks) {
  process.stdout.write(
    `No conversations ${path ? `at ${path}` : 'given'}: this bench needs a file in LoCoMo’s shape (snap-research/locomo), which is not part of Hearth.\n` +
      'node bench/recall.bench.ts <path to the JSON file>\n',
  )
} else {
  for (const form of ['with the speaker’s name', 'text alone'] as const) {
    process.stdout.write(`\nRecall of the evidence at ${AT.join(', ')} (%), ${form}\n`)
    const all: { ours: Recall[]; plain: Recall[] } = { ours: [], plain: [] }
    const times: number[] = []
    for (const talk of talks) {
      const { ours, plain } = await measure(talk, form, times)
      line(`conversation ${talk.name}`, ours, plain)
      all.ours.push(...ours)
      all.plain.push(...plain)
    }
    line('all', all.ours, all.plain, `aim ${AIM}`)
    process.stdout.write(
      `${' '.repeat(16)} a search over HTTP p50 ${percentile(times, 0.5).toFixed(1)} ms, p99 ${percentile(times, 0.99).toFixed(1)} ms\n`,
    )
  }
}
