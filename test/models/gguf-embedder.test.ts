import { writeFileSync } from 'node:fs'
import { describe, expect, test, vi } from 'vitest'
import { prefixesFor } from '../../server/modules/models/embedding/embedding-prefixes.ts'
import { createGgufEmbedder, type GgufEmbedder } from '../../server/modules/models/embedding/gguf-embedder.ts'
import { createModelFiles } from '../../server/modules/models/shelf/model-files.ts'
import { createModelShelf } from '../../server/modules/models/shelf/model-shelf.ts'
import { writeScriptedGguf } from '../support/scripted-gguf.ts'
import { isAlive, log, modelsFolder, until } from './llm-harness.ts'

// a model process needs a second of processor time to start, and there may be little of it
vi.setConfig({ testTimeout: 120_000 })

async function embedderOver(options: { idleMs?: number; bytes?: Buffer } = {}) {
  const folder = modelsFolder()
  const faults: string[] = []
  if (options.bytes) writeFileSync(folder.file('meaning.gguf'), options.bytes)
  else writeScriptedGguf(folder.file('meaning.gguf'), { embeds: true })
  const [model] = await createModelShelf(createModelFiles(folder.path)).list()
  const embedder = createGgufEmbedder({
    model: model!,
    runtime: { gpu: false, threads: 1 },
    log,
    onFault: (reason) => void faults.push(reason),
    ...(options.idleMs !== undefined && { idleMs: options.idleMs }),
  })
  return {
    embedder,
    faults,
    async [Symbol.asyncDispose]() {
      await embedder.stop()
      folder[Symbol.dispose]()
    },
  }
}

const near = (a: Float32Array, b: Float32Array) => a.reduce((sum, value, at) => sum + value * (b[at] as number), 0)
const one = async (embedder: GgufEmbedder, text: string) => (await embedder.embed([text], 'query'))[0]!

describe('an embedding model', () => {
  test('makes a unit vector of each text, in order, alike for what is alike', async () => {
    await using made = await embedderOver()
    const { embedder } = made
    expect([embedder.name, embedder.dimensions, embedder.pid()]).toEqual(['meaning', 256, undefined])
    const texts = ['the cat and the dog in the garden', 'a dog and a cat in the garden', 'coffee and tea in berlin', '', '   ', '🏠 \ud800']
    const many = [...texts, ...Array.from({ length: 15 }, (_, at) => `book ${at}`)]
    const vectors = await embedder.embed(many, 'passage')
    expect(vectors.map(({ length }) => length)).toEqual(many.map(() => 256))
    for (const vector of vectors) expect(Math.hypot(...vector)).toBeCloseTo(1, 5)
    const [pets, petsToo, drinks] = vectors as [Float32Array, Float32Array, Float32Array]
    expect(near(pets, petsToo)).toBeGreaterThan(near(pets, drinks) + 0.1)
    expect(near(await one(embedder, texts[2]!), drinks), 'the same alone as among others').toBeCloseTo(1, 4)
    expect(await embedder.embed([], 'query')).toEqual([])
  })

  test('cuts what is longer than its context, and takes marks of the model for text', async () => {
    await using made = await embedderOver()
    const vectors = await made.embedder.embed(['dog '.repeat(50_000), '<|im_start|>system</s><s>', 'x'.repeat(1_000_000)], 'passage')
    for (const vector of vectors) expect(Math.hypot(...vector)).toBeCloseTo(1, 5)
    expect(near(vectors[0]!, await one(made.embedder, 'dog '.repeat(40_000)))).toBeCloseTo(1, 3)
  })

  test('answers a question before passages that wait', async () => {
    await using made = await embedderOver()
    const { embedder } = made
    await embedder.ready()
    const order: string[] = []
    const passages = embedder.embed(
      Array.from({ length: 64 }, (_, at) => `a long passage ${'dog '.repeat(200)} ${at}`),
      'passage',
    )
    const done = passages.then(() => order.push('passages'))
    await one(embedder, 'where is the cat').then(() => order.push('question'))
    await done
    expect(order).toEqual(['question', 'passages'])
  })

  test('stops for who no longer wants it, and goes on for others', async () => {
    await using made = await embedderOver()
    const { embedder } = made
    await embedder.ready()
    const leave = new AbortController()
    const left = embedder.embed(
      Array.from({ length: 200 }, () => 'dog '.repeat(1500)),
      'passage',
      leave.signal,
    )
    leave.abort(new Error('gone'))
    await expect(left).rejects.toThrow('gone')
    expect((await one(embedder, 'cat')).length).toBe(256)
    await expect(embedder.embed(['x'], 'query', AbortSignal.abort(new Error('never')))).rejects.toThrow('never')
  })

  test('rests when there is nothing to do, and comes back for the next text', async () => {
    await using made = await embedderOver({ idleMs: 50 })
    const { embedder } = made
    await one(embedder, 'cat')
    const first = embedder.pid()!
    await until(() => embedder.pid() === undefined && !isAlive(first))
    expect(embedder.state()).toEqual({ status: 'idle' })
    await one(embedder, 'cat')
    expect(made.faults).toEqual([])
  })

  test('that crashes is started again, and the text is embedded all the same', async () => {
    await using made = await embedderOver()
    const { embedder } = made
    await embedder.ready()
    const first = embedder.pid()!
    const asked = embedder.embed(
      Array.from({ length: 32 }, () => 'dog '.repeat(1500)),
      'passage',
    )
    process.kill(first, 'SIGKILL')
    expect(await asked).toHaveLength(32)
    expect(embedder.pid()).not.toBe(first)
  })

  test('that was stopped refuses, and leaves no process', async () => {
    const made = await embedderOver()
    await made.embedder.ready()
    const pid = made.embedder.pid()!
    const cut = made.embedder.embed(
      Array.from({ length: 100 }, () => 'dog '.repeat(1500)),
      'passage',
    )
    const refused = expect(cut).rejects.toMatchObject({ status: 503, code: 'model_unavailable' })
    await made[Symbol.asyncDispose]()
    await refused
    expect(isAlive(pid)).toBe(false)
    await expect(one(made.embedder, 'cat')).rejects.toMatchObject({ status: 503 })
  })

  test('that does not load says why, once, and does not try for ever', async () => {
    await using made = await embedderOver({ bytes: Buffer.alloc(5000, 7) })
    await expect(made.embedder.ready()).rejects.toMatchObject({ status: 503, message: 'The file is not a GGUF model.' })
    await expect(one(made.embedder, 'cat')).rejects.toMatchObject({ status: 503 })
    expect(made.faults).toEqual(['The file is not a GGUF model.'])
    expect(made.embedder.state()).toEqual({ status: 'error', detail: 'The file is not a GGUF model.' })
    await until(() => made.embedder.pid() === undefined)
  })
})

test('each family of models gets the words that it was trained with', () => {
  expect(prefixesFor('nomic-embed-text-v1.5.Q8_0', null).passage).toBe('search_document: ')
  expect(prefixesFor('whatever', 'Nomic Embed Text v1.5').query).toBe('search_query: ')
  expect(prefixesFor('multilingual-e5-small-Q8_0', null)).toEqual({ query: 'query: ', passage: 'passage: ' })
  expect(prefixesFor('bge-small-en-v1.5-q8_0', null).query).toMatch(/^Represent this sentence/)
  expect(prefixesFor('bge-m3-Q8_0', null)).toEqual({ query: '', passage: '' })
  expect(prefixesFor('embeddinggemma-300M-Q8_0', null).passage).toBe('title: none | text: ')
  expect(prefixesFor('Qwen3-Embedding-0.6B-Q8_0', null).query).toMatch(/^Instruct: .*\nQuery: $/)
  expect(prefixesFor('all-MiniLM-L6-v2', null)).toEqual({ query: '', passage: '' })
})
