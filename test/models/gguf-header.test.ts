import { readFileSync, writeFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { contextBytesPerToken, memoryNeed } from '../../server/modules/models/memory-need.ts'
import { GgufFault, readGgufHeader } from '../../server/modules/models/shelf/gguf-header.ts'
import { modelKind } from '../../server/modules/models/shelf/model-kind.ts'
import { type GgufValue, writeGguf } from '../support/gguf-file.ts'
import { writeScriptedGguf } from '../support/scripted-gguf.ts'
import { modelsFolder } from './llm-harness.ts'

const u32 = (value: number) => Buffer.from(Uint32Array.of(value).buffer)
const u64 = (value: bigint) => Buffer.from(BigUint64Array.of(value).buffer)
const text = (value: string) => Buffer.concat([u64(BigInt(value.length)), Buffer.from(value)])
const head = (entries: bigint) => Buffer.concat([Buffer.from('GGUF'), u32(3), u64(0n), u64(entries)])

async function headerOf(bytes: Buffer) {
  using folder = modelsFolder()
  writeFileSync(folder.file('x.gguf'), bytes)
  return await readGgufHeader(folder.file('x.gguf'))
}

async function headerWith(facts: Record<string, GgufValue>) {
  using folder = modelsFolder()
  writeGguf(folder.file('x.gguf'), facts, [])
  return await readGgufHeader(folder.file('x.gguf'))
}

test('tells what a model is, behind however large a vocabulary', async () => {
  const header = await headerWith({
    'general.architecture': { text: 'qwen3' },
    'general.name': { text: 'A model' },
    'tokenizer.ggml.tokens': { texts: Array.from({ length: 200_000 }, (_, at) => `token ${at}`) },
    'tokenizer.ggml.scores': { f32s: Array.from({ length: 200_000 }, () => 0) },
    'tokenizer.chat_template': { text: 'x'.repeat(10_000) },
    'qwen3.context_length': { u32: 40_960 },
    'qwen3.embedding_length': { u32: 1024 },
    'qwen3.attention.head_count_kv': { i32s: [8, 2, 4] },
    'qwen3.pooling_type': { u32: 3 },
  })
  expect(header).toMatchObject({ architecture: 'qwen3', title: 'A model', contextTokens: 40_960, dimensions: 1024, blocks: null })
  expect(header.facts.get('qwen3.attention.head_count_kv'), 'of layers that differ the largest').toBe(8)
  expect(header.facts.has('tokenizer.chat_template')).toBe(false)
})

test('tells those that speak from those that embed', async () => {
  const kind = async (architecture: string, pooling?: number) =>
    modelKind(
      await headerWith({
        'general.architecture': { text: architecture },
        ...(pooling !== undefined && { [`${architecture}.pooling_type`]: { u32: pooling } }),
      }),
    )
  expect(await Promise.all([kind('llama'), kind('qwen3'), kind('qwen3', 0), kind('gemma3')])).toEqual(['chat', 'chat', 'chat', 'chat'])
  expect(await Promise.all([kind('bert'), kind('nomic-bert', 1), kind('qwen3', 3), kind('gemma-embedding', 1), kind('llama', 1)])).toEqual(
    Array.from({ length: 5 }, () => 'embedding'),
  )
})

test('says what memory is needed from the layers', async () => {
  const header = await headerWith({
    'general.architecture': { text: 'llama' },
    'llama.block_count': { u32: 28 },
    'llama.embedding_length': { u32: 3072 },
    'llama.attention.head_count': { u32: 24 },
    'llama.attention.head_count_kv': { u32: 8 },
    'llama.context_length': { u32: 131_072 },
  })
  const perToken = contextBytesPerToken(header)
  expect(perToken).toBe(28 * 8 * 128 * 2 * 2)
  const need = memoryNeed('chat', { sizeBytes: 2e9, contextBytesPerToken: perToken, contextTokens: header.contextTokens })
  expect(need.usual).toBe(2e9 + 300e6 + perToken * 4 * 8192)
  expect(need.least).toBe(2e9 + 300e6 + perToken * 4 * 2048)
})

const scripted = () => {
  using folder = modelsFolder()
  writeScriptedGguf(folder.file('x.gguf'))
  return readFileSync(folder.file('x.gguf'))
}
const string = (bytes: bigint) => Buffer.concat([head(1n), text('a'), u32(8), u64(bytes)])
const array = (type: number, count: bigint) => Buffer.concat([head(1n), text('a'), u32(9), u32(type), u64(count)])

test.each<[string, Buffer, RegExp]>([
  ['nothing', Buffer.alloc(0), /not a GGUF/],
  ['a picture', Buffer.concat([Buffer.of(0xff, 0xd8, 0xff, 0xe0), Buffer.alloc(1000, 7)]), /not a GGUF/],
  ['only the magic', Buffer.from('GGUF'), /not a GGUF/],
  ['a head and nothing behind it', head(5n), /damaged/],
  ['more entries than there are atoms', head(2n ** 63n), /damaged/],
  ['a million entries', Buffer.concat([head(1_000_000n), Buffer.alloc(1000)]), /damaged/],
  ['a text without end', string(2n ** 62n), /damaged/],
  ['a text a little too long', string(100n), /damaged/],
  ['a key without end', Buffer.concat([head(1n), u64(2n ** 32n), Buffer.alloc(100)]), /damaged/],
  ['an array of texts without end', array(8, 2n ** 61n), /damaged/],
  ['an array of numbers without end', array(12, 2n ** 24n), /damaged/],
  ['an array of arrays', array(9, 3n), /damaged/],
  ['a value of an unknown type', Buffer.concat([head(1n), text('a'), u32(77), Buffer.alloc(100)]), /damaged/],
  ['the first version', Buffer.concat([Buffer.from('GGUF'), u32(1), Buffer.alloc(100)]), /not supported/],
  ['the other byte order', Buffer.concat([Buffer.from('GGUF'), Buffer.of(0, 0, 0, 3), Buffer.alloc(100)]), /not supported/],
  ['no architecture', Buffer.concat([head(1n), text('a'), u32(4), u32(1)]), /damaged/],
  ['a model cut in its header', scripted().subarray(0, 3000), /damaged/],
])('%s is refused with the reason', async (_what, bytes, reason) => {
  await expect(headerOf(bytes)).rejects.toThrow(reason)
  await expect(headerOf(bytes)).rejects.toBeInstanceOf(GgufFault)
})

test('a header cut anywhere is refused, never misread', async () => {
  const bytes = scripted()
  for (let length = 24; length < 1200; length += 13) await expect(headerOf(bytes.subarray(0, length))).rejects.toBeInstanceOf(GgufFault)
})
