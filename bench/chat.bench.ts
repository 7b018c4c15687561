import { readFileSync, rmSync } from 'node:fs'
import { mkdtemp } from 'node:fs/promises'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { history, systemMessage } from '../server/modules/chat/prompt.ts'
import type { LlmMessage } from '../server/modules/models/llm.ts'
import { directLlama } from './support/direct-llama.ts'
import { load } from './support/load.ts'
import { interleave, median, percentile, report } from './support/measure.ts'
import { writeRandomGguf } from './support/random-gguf.ts'
import { measureReply, type StreamReply } from './support/reply-speed.ts'
import { credentials, startServer } from './support/server-process.ts'

/** A whole chat over HTTP, from the question to the stored reply, against the library called directly; and what it leaves for others. */
const ROUNDS = 15
const PIECES = 48
const threads = Math.max(1, availableParallelism() - 1)

const folder = await mkdtemp(join(tmpdir(), 'hearth-bench-chat-'))
const modelPath = join(folder, 'random.gguf')
writeRandomGguf(modelPath)
const hearth = await startServer({ env: { SERVICE_LLM_MODEL: modelPath, SERVICE_LLM_THREADS: String(threads) } })
const { key, api } = await credentials(hearth)
const direct = await directLlama(modelPath, threads, 0.7) // as warm as a chat is
const house = await api.household.get()
const soul = readFileSync(join(import.meta.dirname, '..', 'resources', 'soul.md'), 'utf8').trim()
const system = systemMessage({ soul, notes: '', ...house, speaker: house.persons[0] ?? null })

/** `POST /api/chat`: keeps the conversation itself, so it is given only the last thing said. */
const overHttp: StreamReply = async ({ messages, signal, onText }) => {
  const response = await fetch(`${hearth.url}/api/chat`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ message: messages.at(-1)?.content }),
    signal,
  })
  if (!response.ok || !response.body) throw new Error(`POST /api/chat answered ${response.status}: ${await response.text()}`)
  let text = ''
  let headed = false
  try {
    for await (const piece of response.body.pipeThrough(new TextDecoderStream())) {
      text += piece
      if (!headed && !text.includes('\n')) continue
      if (headed || !text.endsWith('\n')) onText(piece)
      headed = true
    }
  } catch (error) {
    if (!signal.aborted) throw error
  }
  return { text }
}

let asked = 0
/** Short, so that the time to the first token is not all evaluation, whose noise would hide ours. */
const question = () => `${++asked}?`
const asRead = (text: string): LlmMessage[] => [
  system,
  ...history([{ role: 'user', content: text, createdAt: new Date().toISOString() }], house.household),
]
const one = (stream: StreamReply) => () => {
  const text = question()
  return measureReply(stream, `c${asked}`, stream === overHttp ? [{ role: 'user', content: text }] : asRead(text), PIECES)
}
const contenders = { direct: one(direct.stream), ours: one(overHttp) }
await interleave(5, contenders) // until each of the four slots has read the system message, as the library's one session has
const results = await interleave(ROUNDS, contenders)
const paired = (of: (round: number) => number) => median(results.ours.map((_, round) => of(round)))
report(
  'POST /api/chat, added time to first token, ms',
  paired((n) => (results.ours[n]?.firstMs ?? 0) - (results.direct[n]?.firstMs ?? 0)),
  '≤ 10',
)
report(
  'POST /api/chat, tokens per second over the library',
  paired((n) => (results.ours[n]?.tokensPerSecond ?? 0) / (results.direct[n]?.tokensPerSecond ?? 0)),
  '≥ 0.97',
)
await direct.stop()

const stop = new AbortController()
const idle = await load({ url: `${hearth.url}/api/status`, pid: hearth.pid, connections: 1, ms: 2_000 })
const chats = Array.from({ length: 8 }, () =>
  overHttp({ conversationId: '', messages: [{ role: 'user', content: question() }], signal: stop.signal, onText: () => undefined }),
)
const busy = await load({ url: `${hearth.url}/api/status`, pid: hearth.pid, connections: 1, ms: 6_000 })
stop.abort()
await Promise.allSettled(chats)
report('GET /api/status p99 while eight chats stream, ms', percentile(busy.latencies, 0.99), '< 50')
report('the same over p99 without them', percentile(busy.latencies, 0.99) / percentile(idle.latencies, 0.99), 'no aim')

await hearth.stop()
rmSync(folder, { recursive: true, force: true })
