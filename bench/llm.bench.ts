import { mkdtempSync, rmSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { createLog } from '../server/kit/log.ts'
import { createLlamaRunner } from '../server/modules/models/llama/llama-runner.ts'
import type { LlmMessage } from '../server/modules/models/llm.ts'
import { createModelFiles } from '../server/modules/models/shelf/model-files.ts'
import { directLlama } from './support/direct-llama.ts'
import { cpuMicros, interleave, median, report } from './support/measure.ts'
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
    content: `${++conversations} ${sentence.repeat(Math.ceil(tokens / 31))}`.slice(0, Math.max(40, Math.round(tokens * 2.25))),
  },
]

const folder = mkdtempSync(join(tmpdir(), 'hearth-bench-'))
writeRandomGguf(join(folder, 'random.gguf'))
const [file] = await createModelFiles(folder).list()
if (!file) throw new Error('The model was not written')
const runner = createLlamaRunner({ file, runtime: { gpu: false, threads }, slots: 4, log: createLog('error') })
await runner.start()
const ours: StreamReply = (request) => runner.generate({ ...request, fairKey: 'bench', temperature: 0 })
const direct = await directLlama(join(folder, 'random.gguf'), threads)

type Measured = ReplySpeed & { cpuMs: number }

/** Of this process and the model's, so that what else runs on the machine does not count. */
const cpuMs = () => {
  const { user, system } = process.cpuUsage()
  return (user + system + cpuMicros(runner.pid() ?? 0)) / 1000
}

async function measured(stream: StreamReply, messages: readonly LlmMessage[], pieces: number): Promise<Measured> {
  const before = cpuMs()
  const speed = await measureReply(stream, `c${conversations}`, messages, pieces)
  return { ...speed, cpuMs: cpuMs() - before }
}

/** Both with one and the same prompt in each round. */
async function compare(rounds: number, tokens: number, pieces: number): Promise<{ ours: Measured[]; direct: Measured[] }> {
  let same: LlmMessage[] = []
  return interleave(rounds, {
    direct: () => {
      same = prompt(tokens)
      return measured(direct.stream, same, pieces)
    },
    ours: () => measured(ours, same, pieces),
  })
}

/** Median over the rounds of what `of` makes of a pair. */
const paired = (pair: { ours: Measured[]; direct: Measured[] }, of: (ours: Measured, direct: Measured) => number) =>
  median(pair.ours.flatMap((own, round) => (pair.direct[round] ? [of(own, pair.direct[round])] : [])))
const added = (own: Measured, direct: Measured) => own.firstMs - direct.firstMs

await compare(5, 40, 8) // warms both up, ours in each of its slots
const short = await compare(ROUNDS, 20, PIECES)
report('added time to first token, short prompt, ms', paired(short, added), '≤ 10')
const faster = paired(short, (own, direct) => own.tokensPerSecond / direct.tokensPerSecond)
report('tokens per second over the library called directly', faster, '≥ 0.97')
const thriftier = paired(short, (own, direct) => direct.cpuMs / own.cpuMs)
report('tokens per CPU second over the library called directly', thriftier, '≥ 0.97')
const long = await compare(5, 1024, 2)
report('added time to first token, 1,024-token prompt, ms', paired(long, added), '≤ 10')
const dearer = paired(long, (own, direct) => own.cpuMs / direct.cpuMs)
report('CPU time until then over the library called directly', dearer, '≤ 1.05')

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
for (let n = 0; n < STOPS; n++) stops.push(await measureStop(ours, `r${n}`, prompt(2500), 400 + 40 * n))
report('cancel while the prompt is read until the slot is free, longest, ms', Math.max(...stops), '≤ 300')
report('cancel while it replies until the slot is free, longest, ms', Math.max(...short.ours.map(({ stopMs }) => stopMs)), '≤ 300')

await runner.stop()
await direct.stop()
rmSync(folder, { recursive: true })
