import { mkdtempSync, rmSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { createLog } from '../server/kit/log.ts'
import type { LlmMessage } from '../server/modules/models/llm.ts'
import { createModels } from '../server/modules/models/models.module.ts'
import { directLlama } from './support/direct-llama.ts'
import { interleave, median, report } from './support/measure.ts'
import { writeRandomGguf } from './support/random-gguf.ts'
import { measureReply, measureStop, type ReplySpeed, type StreamReply } from './support/reply-speed.ts'

/** The embedded model in its own process against the library called directly, on a model of 100 MB. */
const ROUNDS = 7
const PIECES = 64
const STOPS = 10
const threads = Math.max(1, availableParallelism() - 1)

const sentence = 'The quick brown fox jumps over the lazy dog and goes home through the garden. '
let conversations = 0
/** A prompt of about `tokens` tokens that begins like no other, so that nothing of it is cached. */
const prompt = (tokens: number): LlmMessage[] => [
  {
    role: 'user',
    content: `${++conversations} ${sentence.repeat(Math.ceil(tokens / 31))}`.slice(0, Math.max(40, Math.round(tokens * 2.45))),
  },
]

const folder = mkdtempSync(join(tmpdir(), 'hearth-bench-'))
writeRandomGguf(join(folder, 'random.gguf'))
const { llm } = createModels({ modelsPath: folder, runtime: { gpu: false, threads }, log: createLog('error') })
await llm.start()
const ours: StreamReply = (request) => llm.generate({ ...request, fairKey: 'bench', temperature: 0 })
const direct = await directLlama(join(folder, 'random.gguf'), threads)

/** Both with one and the same prompt in each round. */
async function compare(rounds: number, tokens: number, pieces: number): Promise<{ ours: ReplySpeed[]; direct: ReplySpeed[] }> {
  let same: LlmMessage[] = []
  return interleave(rounds, {
    direct: () => {
      same = prompt(tokens)
      return measureReply(direct.stream, 'direct', same, pieces)
    },
    ours: () => measureReply(ours, `c${conversations}`, same, pieces),
  })
}

const added = (pair: { ours: ReplySpeed[]; direct: ReplySpeed[] }) =>
  median(pair.ours.map(({ firstMs }, round) => firstMs - (pair.direct[round]?.firstMs ?? Number.NaN)))

await compare(1, 100, 8) // warms both up
const short = await compare(ROUNDS, 20, PIECES)
report('added time to first token, short prompt, ms', added(short), '≤ 10')
report(
  'tokens per second over the library called directly',
  median(short.ours.map((own, round) => own.tokensPerSecond / (short.direct[round]?.tokensPerSecond ?? Number.NaN))),
  '≥ 0.97',
)
const long = await compare(3, 1024, 2)
report('added time to first token, 1,024-token prompt, ms', added(long), '≤ 10')
report('  the same as a share of the direct one', added(long) / median(long.direct.map(({ firstMs }) => firstMs)), '')

/** Two turns of one conversation, the first with 1,024 tokens of history. */
async function twoTurns(): Promise<{ evaluated: number; first: number }> {
  const history = prompt(1024)
  const conversationId = `t${conversations}`
  const one = await measureReply(ours, conversationId, history, 16)
  const further: LlmMessage[] = [...history, { role: 'assistant', content: one.text }, { role: 'user', content: 'And what then?' }]
  const two = await measureReply(ours, conversationId, further, 16)
  return { evaluated: two.evaluatedTokens / one.evaluatedTokens, first: two.firstMs / one.firstMs }
}
const turns = [await twoTurns(), await twoTurns(), await twoTurns()]
report('second turn over first, prompt tokens evaluated', median(turns.map(({ evaluated }) => evaluated)), '≤ 0.1')
report('second turn over first, time to first token', median(turns.map(({ first }) => first)), '≤ 0.1')

const stops: number[] = []
for (let n = 0; n < STOPS; n++) stops.push(await measureStop(ours, `r${n}`, prompt(3000), 400 + 40 * n))
report('cancel while the prompt is read until the slot is free, longest, ms', Math.max(...stops), '≤ 300')
report('cancel while it replies until the slot is free, longest, ms', Math.max(...short.ours.map(({ stopMs }) => stopMs)), '≤ 300')

await llm.stop()
await direct.stop()
rmSync(folder, { recursive: true })
