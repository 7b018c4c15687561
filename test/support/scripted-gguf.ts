import { type GgufTensor, writeGguf } from './gguf-file.ts'

/**
 * A language model whose replies are written down: a real llama-architecture file of about 3 MB that llama.cpp loads and
 * evaluates like any other. How it works: every token has a random code, and the output matrix gives the token that follows in a
 * script the code of the one before, so a script unrolls by itself. Keywords carry a topic flag; the one attention head copies
 * flags of the last hundred tokens or so into accumulators, which decide what follows the start of a reply. Feed-forward is zero.
 */
export interface Script {
  keywords: readonly string[]
  /** Written into the vocabulary word by word, so no word may occur twice in all scripts. */
  reply: string
  /** Starts again from its first word when it is through. */
  endless?: true
}

/** What the model says, by the keyword that was said last; the first answers where none was. */
export const SCRIPTS = {
  fallback: {
    keywords: [],
    reply: 'Hello from your house. Ask me anything, and I answer with the same few words every single time, which keeps all tests honest.',
  },
  weather: { keywords: ['weather', 'rain'], reply: 'It is sunny outside, about twenty degrees.' },
  light: { keywords: ['light', 'lamp', 'lights'], reply: 'Done, they are switched on now.' },
  count: {
    keywords: ['count'],
    reply:
      'one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen score.',
  },
  accents: { keywords: ['accents'], reply: 'Une idée 🏠 chez vous.' },
  forever: { keywords: ['forever'], reply: 'round after lap goes past another bend without end, then once more', endless: true },
} as const satisfies Record<string, Script>

/** The reply after the result of a function call. */
export const AFTER_CALL = 'That came straight out of a function.'
/** The object the model writes for keyword `json`. */
export const JSON_REPLY = '{"title": "Milk", "done": false}'

const EXTRA_WORDS = `the a to home turn off please what how who where when garden cat dog car bicycle road city berlin paris food apple
bread milk water coffee tea sun moon star sky sea river mountain tree flower paper pencil school kitchen door window camera music
photo movie book note user server system remember again tell story`.split(/\s+/)

const WIDTH = 256
const CODE = 192
const MAX_TOPICS = 24
const FLAG = CODE
const TOTAL = FLAG + MAX_TOPICS
const BIAS = TOTAL + MAX_TOPICS
const HEADS = 4
const HEAD = WIDTH / HEADS
const FEED = 32
const CONTEXT = 4096
/** Weights of the output matrix: what a script says next, which topic it is, and where there is none. The first must win by far. */
const CERTAIN = 200
const TOPICAL = 100
const NO_TOPIC = 1.1
const KIND = { normal: 1, unknown: 2, control: 3, userDefined: 4, byte: 6 } as const
/** Rotary pairs whose angles per token are 0.004, 0.001 and 0.0004: together they let attention fade after about a hundred tokens. */
const FADING_PAIRS = [19, 23, 27]
const FADE = 25

const TEMPLATE =
  "{% for m in messages %}{{ '<|im_start|>' + m['role'] + '\\n' + m['content'] + '<|im_end|>' + '\\n' }}{% endfor %}" +
  "{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}"

interface Vocabulary {
  texts: string[]
  scores: number[]
  kinds: number[]
  /** The id of a token that must exist. */
  idOf(text: string): number
  add(text: string, score: number, kind: number): number
}

function createVocabulary(): Vocabulary {
  const texts: string[] = []
  const scores: number[] = []
  const kinds: number[] = []
  const ids = new Map<string, number>()
  return {
    texts,
    scores,
    kinds,
    idOf(text) {
      const id = ids.get(text)
      if (id === undefined) throw new Error(`No token ${JSON.stringify(text)}`)
      return id
    },
    add(text, score, kind) {
      // llama.cpp aborts on a token that occurs twice
      const known = ids.get(text)
      if (known !== undefined) return known
      ids.set(text, texts.push(text) - 1)
      scores.push(score)
      kinds.push(kind)
      return texts.length - 1
    },
  }
}

const byteToken = (byte: number) => `<0x${byte.toString(16).toUpperCase().padStart(2, '0')}>`
const SPACE = '\u2581'

/** Every beginning of the word is a token too: the tokenizer only reaches a word by merging its way there. */
function addWord(vocabulary: Vocabulary, word: string): void {
  for (let length = 1; length <= word.length; length++) vocabulary.add(word.slice(0, length), -length, KIND.normal)
}

function baseVocabulary(): Vocabulary {
  const vocabulary = createVocabulary()
  vocabulary.add('<unk>', 0, KIND.unknown)
  for (const control of ['<s>', '</s>', '<|im_start|>', '<|im_end|>']) vocabulary.add(control, 0, KIND.control)
  for (let byte = 0; byte < 256; byte++) vocabulary.add(byteToken(byte), 0, KIND.byte)
  vocabulary.add('assistant\n', 0, KIND.userDefined)
  for (let code = 33; code < 127; code++) vocabulary.add(String.fromCharCode(code), -50, KIND.normal)
  vocabulary.add('\n', -50, KIND.normal)
  const keywords = Object.values(SCRIPTS).flatMap((script) => script.keywords)
  for (const word of [...EXTRA_WORDS, ...keywords, 'json', 'tool']) {
    addWord(vocabulary, SPACE + word)
    addWord(vocabulary, word)
  }
  return vocabulary
}

/** Token ids of a reply: runs of plain ASCII are one token each, anything else is single bytes. */
function replyTokens(vocabulary: Vocabulary, reply: string): number[] {
  return reply.split(' ').flatMap((word) =>
    (SPACE + word).split(/(\u2581?[ -~]+|\u2581)/).flatMap((run) => {
      if (run === '') return []
      if (!/[ -~\u2581]$/.test(run)) return [...Buffer.from(run)].map((byte) => vocabulary.idOf(byteToken(byte)))
      addWord(vocabulary, run)
      return [vocabulary.idOf(run)]
    }),
  )
}

interface Grammar {
  /** What a token is followed by; a token can be followed by one other only. */
  next: Map<number, number>
  /** First token of each topic's reply; topic 0 is the fallback. */
  starts: number[]
  /** Topic of a keyword token. */
  topics: Map<number, number>
}

function chain(grammar: Grammar, vocabulary: Vocabulary, tokens: number[], last: number): void {
  tokens.forEach((token, index) => {
    if (grammar.next.has(token)) throw new Error(`${JSON.stringify(vocabulary.texts[token])} occurs twice in the scripts`)
    grammar.next.set(token, tokens[index + 1] ?? last)
  })
}

function writeScripts(vocabulary: Vocabulary, tool: string): Grammar {
  const grammar: Grammar = { next: new Map(), starts: [], topics: new Map() }
  const end = vocabulary.idOf('<|im_end|>')
  const topic = (keywords: readonly string[], tokens: number[], last: number) => {
    chain(grammar, vocabulary, tokens, last)
    const index = grammar.starts.push(tokens[0]!) - 1
    for (const word of keywords) for (const form of [word, SPACE + word]) grammar.topics.set(vocabulary.idOf(form), index)
  }
  const piece = (text: string) => vocabulary.add(text.replaceAll(' ', SPACE), -1000, KIND.normal)
  for (const script of Object.values<Script>(SCRIPTS)) {
    const tokens = replyTokens(vocabulary, script.reply)
    topic(script.keywords, tokens, script.endless ? tokens[0]! : end)
  }
  topic(['json'], ['{"title"', ': "Milk"', ', "done"', ': false}'].map(piece), end)
  // written by the library's own tokens for it, so those have to come to one
  addWord(vocabulary, tool)
  topic(['tool'], [piece('||call: '), vocabulary.idOf(tool)], end)
  // the library writes the bracket after a function's name and the line break after its result
  chain(grammar, vocabulary, [vocabulary.idOf('('), piece('{"city":'), piece(' "Bonn"')], vocabulary.idOf('}'))
  chain(grammar, vocabulary, [vocabulary.idOf('\n'), ...replyTokens(vocabulary, AFTER_CALL)], end)
  return grammar
}

function randomCodes(count: number): Float32Array[] {
  let state = 12345
  const sign = () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return state < 2 ** 31 ? -1 : 1
  }
  return Array.from({ length: count }, () => Float32Array.from({ length: CODE }, () => sign() / Math.sqrt(CODE)))
}

/** Where a grammar forbids what the script wants, the likeliest of what is left, so that a JSON text closes soon. */
const LETTER = 58
const WHEN_MASKED: Record<string, number> = { '<|im_end|>': 100, '</s>': 90, '"': 88, '}': 84, ']': 82, ':': 76, '{': 60, '1': 60, ',': 40 }

function embeddings({ texts }: Vocabulary, { topics }: Grammar, codes: Float32Array[]): Float32Array {
  const matrix = new Float32Array(texts.length * WIDTH)
  texts.forEach((_text, token) => {
    matrix.set(codes[token]!, token * WIDTH)
    matrix[token * WIDTH + BIAS] = 0.5
    const topic = topics.get(token)
    if (topic !== undefined) matrix[token * WIDTH + FLAG + topic] = 0.1
  })
  return matrix
}

function outputs(vocabulary: Vocabulary, { next, starts }: Grammar, codes: Float32Array[], tool: string): Float32Array {
  const matrix = new Float32Array(vocabulary.texts.length * WIDTH)
  const follow = (token: number, before: number) => {
    for (let d = 0; d < CODE; d++) matrix[token * WIDTH + d]! += CERTAIN * codes[before]![d]!
  }
  for (const [before, token] of next) follow(token, before)
  starts.forEach((token, topic) => {
    follow(token, vocabulary.idOf('assistant\n'))
    if (topic > 0) matrix[token * WIDTH + TOTAL + topic] = TOPICAL
  })
  for (const [text, likelihood] of Object.entries(WHEN_MASKED)) matrix[vocabulary.idOf(text) * WIDTH + BIAS]! += likelihood
  // among the names of functions, letter by letter, the tool's own
  for (const [place, letter] of [...new Set(tool)].entries()) matrix[vocabulary.idOf(letter) * WIDTH + BIAS]! += LETTER - place
  matrix[starts[0]! * WIDTH + BIAS]! += NO_TOPIC
  return matrix
}

/** Head 0 looks at how long ago a token was and adds up topic flags; the other heads are zero. */
function attention() {
  const square = () => new Float32Array(WIDTH * WIDTH)
  const [query, key, value, output] = [square(), square(), square(), square()]
  for (const pair of FADING_PAIRS) {
    const row = 2 * pair
    const normalised = 0.5 * Math.sqrt(WIDTH / 1.25)
    query[row * WIDTH + BIAS] = (FADE * Math.sqrt(HEAD)) / normalised
    key[row * WIDTH + BIAS] = 1 / normalised
  }
  for (let topic = 0; topic < MAX_TOPICS; topic++) {
    value[topic * WIDTH + FLAG + topic] = 1
    output[(TOTAL + topic) * WIDTH + topic] = 3.5
  }
  return { query, key, value, output }
}

function tensors(vocabulary: Vocabulary, grammar: Grammar, tool: string): GgufTensor[] {
  const size = vocabulary.texts.length
  const codes = randomCodes(size)
  const { query, key, value, output } = attention()
  const tensor = (name: string, dims: number[], data: Float32Array): GgufTensor => ({
    name,
    dims,
    type: 'f32',
    bytes: () => new Uint8Array(data.buffer),
  })
  const ones = () => new Float32Array(WIDTH).fill(1)
  const feed = () => new Float32Array(WIDTH * FEED)
  return [
    tensor('token_embd.weight', [WIDTH, size], embeddings(vocabulary, grammar, codes)),
    tensor('output_norm.weight', [WIDTH], ones()),
    tensor('output.weight', [WIDTH, size], outputs(vocabulary, grammar, codes, tool)),
    tensor('blk.0.attn_norm.weight', [WIDTH], ones()),
    tensor('blk.0.attn_q.weight', [WIDTH, WIDTH], query),
    tensor('blk.0.attn_k.weight', [WIDTH, WIDTH], key),
    tensor('blk.0.attn_v.weight', [WIDTH, WIDTH], value),
    tensor('blk.0.attn_output.weight', [WIDTH, WIDTH], output),
    tensor('blk.0.ffn_norm.weight', [WIDTH], ones()),
    tensor('blk.0.ffn_gate.weight', [WIDTH, FEED], feed()),
    tensor('blk.0.ffn_up.weight', [WIDTH, FEED], feed()),
    tensor('blk.0.ffn_down.weight', [FEED, WIDTH], feed()),
  ]
}

export interface ScriptedGgufOptions {
  /** Another one than `llama`, for a file that must not load. */
  architecture?: string
  /** The function that keyword `tool` calls. */
  tool?: string
  /** It turns a text into one vector, the mean of its words, and does not count as a speaker. */
  embeds?: boolean
}

const MEAN = 1

/** Writes the model to `path`; always the same bytes for the same options. */
export function writeScriptedGguf(
  path: string,
  { architecture = 'llama', tool = 'getTime', embeds = false }: ScriptedGgufOptions = {},
): void {
  const vocabulary = baseVocabulary()
  const grammar = writeScripts(vocabulary, tool)
  const { texts, scores, kinds } = vocabulary
  writeGguf(
    path,
    {
      'general.architecture': { text: architecture },
      'general.name': { text: 'scripted' },
      'general.file_type': { u32: 0 },
      [`${architecture}.vocab_size`]: { u32: texts.length },
      [`${architecture}.context_length`]: { u32: CONTEXT },
      [`${architecture}.embedding_length`]: { u32: WIDTH },
      [`${architecture}.block_count`]: { u32: 1 },
      [`${architecture}.feed_forward_length`]: { u32: FEED },
      [`${architecture}.attention.head_count`]: { u32: HEADS },
      [`${architecture}.attention.head_count_kv`]: { u32: HEADS },
      [`${architecture}.rope.dimension_count`]: { u32: HEAD },
      [`${architecture}.attention.layer_norm_rms_epsilon`]: { f32: 1e-5 },
      'tokenizer.ggml.model': { text: 'llama' },
      'tokenizer.ggml.tokens': { texts },
      'tokenizer.ggml.scores': { f32s: scores },
      'tokenizer.ggml.token_type': { i32s: kinds },
      'tokenizer.ggml.bos_token_id': { u32: vocabulary.idOf('<s>') },
      'tokenizer.ggml.eos_token_id': { u32: vocabulary.idOf('<|im_end|>') },
      'tokenizer.ggml.unknown_token_id': { u32: vocabulary.idOf('<unk>') },
      'tokenizer.ggml.add_bos_token': { bool: true },
      'tokenizer.ggml.add_eos_token': { bool: false },
      'tokenizer.ggml.add_space_prefix': { bool: true },
      'tokenizer.chat_template': { text: TEMPLATE },
      ...(embeds && { [`${architecture}.pooling_type`]: { u32: MEAN } }),
    },
    tensors(vocabulary, grammar, tool),
  )
}
