import { type GgufTensor, writeGguf } from '../../test/support/gguf-file.ts'

const WIDTH = 768
const LAYERS = 12
const HEADS = 12
const KV_HEADS = 4
const FEED = 2048
const VOCABULARY = 12_000
const CONTEXT = 4096
const BLOCK = 32
const KIND = { normal: 1, unknown: 2, control: 3, byte: 6 } as const

const TEMPLATE =
  "{% for m in messages %}{{ '<|im_start|>' + m['role'] + '\\n' + m['content'] + '<|im_end|>' + '\\n' }}{% endfor %}" +
  "{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}"

/** Letters, then every pair, then triples and quadruples of common shape: English text becomes about one token per three letters. */
function* pieces(): Generator<string> {
  const letters = [...'etaoinshrdlcumwfgypbvkjxqz']
  const vowels = [...'eaoiu']
  for (let code = 33; code < 127; code++) yield String.fromCharCode(code)
  yield '\n'
  for (const space of ['\u2581', '']) for (const a of letters) yield space + a
  for (const space of ['\u2581', '']) for (const a of letters) for (const b of letters) yield space + a + b
  for (const a of letters) for (const b of vowels) for (const c of letters) yield `\u2581${a}${b}${c}`
  for (const a of letters) for (const b of vowels) for (const c of letters) yield a + b + c
  for (const a of letters) for (const b of vowels) for (const c of letters) for (const d of vowels) yield a + b + c + d
}

function vocabulary() {
  const texts = ['<unk>', '<s>', '</s>', '<|im_start|>', '<|im_end|>']
  const kinds: number[] = [KIND.unknown, KIND.control, KIND.control, KIND.control, KIND.control]
  for (let byte = 0; byte < 256; byte++) {
    texts.push(`<0x${byte.toString(16).toUpperCase().padStart(2, '0')}>`)
    kinds.push(KIND.byte)
  }
  const known = new Set(texts)
  const firstWord = texts.length
  texts.push('\u2581')
  kinds.push(KIND.normal)
  for (const piece of pieces()) {
    if (texts.length === VOCABULARY) break
    if (known.has(piece)) continue
    known.add(piece)
    texts.push(piece)
    kinds.push(KIND.normal)
  }
  return { texts, kinds, scores: texts.map((_text, id) => (id < firstWord ? 0 : firstWord - id)), firstWord }
}

const halfOf = (value: number) => {
  const half = new Uint16Array(1)
  const single = new Uint32Array(Float32Array.of(value).buffer)[0]!
  half[0] = ((single >>> 16) & 0x8000) | ((((single >>> 23) & 0xff) - 112) << 10) | ((single >>> 13) & 0x3ff)
  return half[0]
}

/** Q8_0 blocks (a half-precision scale and 32 signed bytes) of weights spread evenly with standard deviation `spread`. */
function randomBlocks(weights: number, spread: number, seed: number): Uint8Array {
  const blocks = Buffer.allocUnsafe((weights / BLOCK) * 34)
  const scale = halfOf((spread * Math.sqrt(3)) / 127)
  let state = seed | 1
  for (let at = 0; at < blocks.length; at += 34) {
    blocks.writeUInt16LE(scale, at)
    for (let word = 2; word < 34; word += 4) {
      state ^= state << 13
      state ^= state >>> 17
      state ^= state << 5
      blocks.writeInt32LE(state, at + word)
    }
  }
  return blocks
}

function tensors(size: number, firstWord: number): GgufTensor[] {
  let seed = 1
  const matrix = (name: string, from: number, to: number, silentRows = 0): GgufTensor => {
    seed = Math.imul(seed, 747796405) + 1
    const own = seed
    return {
      name,
      dims: [from, to],
      type: 'q8_0',
      bytes: () => {
        const blocks = randomBlocks(from * to, 1 / Math.sqrt(from), own)
        // control and byte tokens are never the likeliest: a reply is readable text that ends at its limit
        return blocks.fill(0, 0, silentRows * (from / BLOCK) * 34)
      },
    }
  }
  const norm = (name: string): GgufTensor => ({
    name,
    dims: [WIDTH],
    type: 'f32',
    bytes: () => new Uint8Array(new Float32Array(WIDTH).fill(1).buffer),
  })
  const kvWidth = (WIDTH / HEADS) * KV_HEADS
  const layers = Array.from({ length: LAYERS }, (_, layer) => [
    norm(`blk.${layer}.attn_norm.weight`),
    matrix(`blk.${layer}.attn_q.weight`, WIDTH, WIDTH),
    matrix(`blk.${layer}.attn_k.weight`, WIDTH, kvWidth),
    matrix(`blk.${layer}.attn_v.weight`, WIDTH, kvWidth),
    matrix(`blk.${layer}.attn_output.weight`, WIDTH, WIDTH),
    norm(`blk.${layer}.ffn_norm.weight`),
    matrix(`blk.${layer}.ffn_gate.weight`, WIDTH, FEED),
    matrix(`blk.${layer}.ffn_up.weight`, WIDTH, FEED),
    matrix(`blk.${layer}.ffn_down.weight`, FEED, WIDTH),
  ])
  return [
    matrix('token_embd.weight', WIDTH, size),
    norm('output_norm.weight'),
    matrix('output.weight', WIDTH, size, firstWord),
    ...layers.flat(),
  ]
}

/** Writes a llama model of about 100 MB whose weights are noise from a fixed seed: the work of a real one, without its sense. */
export function writeRandomGguf(path: string): void {
  const { texts, kinds, scores, firstWord } = vocabulary()
  writeGguf(
    path,
    {
      'general.architecture': { text: 'llama' },
      'general.name': { text: 'random' },
      'general.file_type': { u32: 7 },
      'llama.vocab_size': { u32: texts.length },
      'llama.context_length': { u32: CONTEXT },
      'llama.embedding_length': { u32: WIDTH },
      'llama.block_count': { u32: LAYERS },
      'llama.feed_forward_length': { u32: FEED },
      'llama.attention.head_count': { u32: HEADS },
      'llama.attention.head_count_kv': { u32: KV_HEADS },
      'llama.rope.dimension_count': { u32: WIDTH / HEADS },
      'llama.attention.layer_norm_rms_epsilon': { f32: 1e-5 },
      'tokenizer.ggml.model': { text: 'llama' },
      'tokenizer.ggml.tokens': { texts },
      'tokenizer.ggml.scores': { f32s: scores },
      'tokenizer.ggml.token_type': { i32s: kinds },
      'tokenizer.ggml.bos_token_id': { u32: 1 },
      'tokenizer.ggml.eos_token_id': { u32: 4 },
      'tokenizer.ggml.unknown_token_id': { u32: 0 },
      'tokenizer.ggml.add_bos_token': { bool: true },
      'tokenizer.ggml.add_eos_token': { bool: false },
      'tokenizer.ggml.add_space_prefix': { bool: true },
      'tokenizer.chat_template': { text: TEMPLATE },
    },
    tensors(texts.length, firstWord),
  )
}
