import { DateTime } from 'luxon'
import type { Reader } from '../../../db/rows.ts'
import { BOUND_TEXT } from '../../../db/rows.ts'
import { createPace } from '../../../kit/pace.ts'
import { type Lexicon, loadLexicon } from './lexicon.ts'
import { createMatcher } from './matcher.ts'
import { isShort, type Passage, readPassage } from './passage.ts'
import { type Question, readQuestion, type Term } from './question.ts'
import { type Aim, type Candidate, REACH, scoresOf } from './relevance.ts'
import { dayOf, periodIn } from './spoken-dates.ts'
import type { WordVectors } from './word-vectors.ts'
import { isUnspaced, wordsOf } from './words.ts'

/** Chunks taken from each of full text and vectors. */
const CANDIDATES = 80
/** The best whose neighbours are looked at as well. */
const LEADERS = 40
const PINNED = 30
/** Full text ranks at about a million occurrences a second: the rarest words are ranked within this many. */
const MAX_OCCURRENCES = 3_000
/** Words in more chunks than this are common: how many exactly is not looked up again for a while. */
const COMMON_COUNT = 1_000
const MAX_COUNT = 20_000
const COMMON_FOR_MS = 60_000
const MAX_COMMON = 2_000
/** Of a long chunk this much is read; the full-text index knows all of it. */
const MAX_CONTENT = 20_000
/** So many of the latest are looked through for characters without spaces, but for those of more bytes. */
const LATEST = 1_000
const MAX_LOOKED_THROUGH = 4_000
const MOST_LOOKED_FOR = 2
/** Chunks whose reading is kept for the next question. */
const KEPT_PASSAGES = 2_000

export interface ChunkSearchOptions {
  q: string
  /** Whose chunks may be seen. */
  personIds: readonly string[] | 'all'
  includeHousehold: boolean
  /** Only chunks of this person. */
  personId?: string
  limit: number
  now: Date
  timezone: string
  /** Who asks: their own chunks go before others that fit as well. */
  preferPersonId?: string
}

export interface FoundChunk {
  seq: number
  id: string
  /** About 1 or more says that every word of the question is met; below 0.6 hardly any is. */
  score: number
}

export interface ChunkSearch {
  search(options: ChunkSearchOptions): Promise<FoundChunk[]>
}

interface Dependencies {
  db: Pick<Reader, 'select'>
  /** The chunks of these owners (null is the household) whose vectors are nearest, best first; none while there is no index. */
  nearest(vector: Float32Array, k: number, owners: readonly (string | null)[] | 'all'): Promise<readonly { seq: number }[]>
  /** The question's vector by the embedder that fills the index; null while there is none. */
  embed(question: string): Promise<Float32Array | null>
  resourcesPath: string
  /** The word vectors cannot be read: what is found is found by its words. */
  onFault?(error: unknown): void
}

/** In how many chunks a term stands, and the full-text phrase that finds them. */
interface Spread {
  phrase: string
  count: number
}

interface Row {
  seq: number
  id: string
  personId: string | null
  category: string
  title: string
  content: string
  observedAt: string
  pinned: number
  updatedAt: string
  excerpt?: string
}

const COLUMNS = `c."seq", c."id", c."personId", c."category", c."title", substr(c."content", 1, ${MAX_CONTENT}) AS "content", c."observedAt", c."pinned", c."updatedAt"`
/** Where in a text that is not read to its end the words asked for stand. */
const EXCERPT = `snippet(memory_chunk_search, 1, '', '', ' … ', 64)`
const IN_LIST = `(SELECT "value" FROM json_each(${BOUND_TEXT}))`

/** Which chunks may be seen at all, as a condition with its parameters. */
function sightOf({ personIds, includeHousehold, personId }: ChunkSearchOptions): { sql: string; parameters: string[] } {
  const parts = ['c."supersededById" IS NULL']
  const parameters: string[] = []
  if (personIds !== 'all') {
    parts.push(`(c."personId" IN ${IN_LIST}${includeHousehold ? ' OR c."personId" IS NULL' : ''})`)
    parameters.push(JSON.stringify(personIds))
  } else if (!includeHousehold) parts.push('c."personId" IS NOT NULL')
  if (personId !== undefined) {
    parts.push(`c."personId" = ${BOUND_TEXT}`)
    parameters.push(personId)
  }
  return { sql: parts.join(' AND '), parameters }
}

/** The owners whose chunks can come out at all. */
function ownersOf({ personIds, includeHousehold, personId }: ChunkSearchOptions): (string | null)[] | 'all' {
  if (personId !== undefined) return personIds === 'all' || personIds.includes(personId) ? [personId] : []
  if (personIds === 'all') return 'all'
  return includeHousehold ? [null, ...personIds] : [...personIds]
}

/** The text of a chunk; a title that only repeats its beginning adds nothing. */
const textOf = ({ title, content, excerpt }: Row) => {
  const own = title.replace(/…$/, '').trim()
  const text = own === '' || content.includes(own) ? content : `${title}. ${content}`
  return excerpt ? `${text} ${excerpt}` : text
}

const quoted = (word: string) => `"${word.replaceAll('"', '')}"`

/** Finds the chunks that answer a question: by words, by vectors, and by what was said around them. */
export function createChunkSearch({ db, nearest, embed, resourcesPath, onFault = () => undefined }: Dependencies): ChunkSearch {
  const pace = createPace()
  const common = new Map<string, { count: number; until: number }>()

  function count(phrase: string): number {
    const known = common.get(phrase)
    if (known && performance.now() < known.until) return known.count
    const [{ n } = { n: 0 }] = db.select<{ n: number }>(
      `SELECT count(*) AS n FROM (SELECT 1 FROM memory_chunk_search WHERE memory_chunk_search MATCH ${BOUND_TEXT} LIMIT ${MAX_COUNT})`,
      [phrase],
    )
    if (common.size >= MAX_COMMON) common.clear()
    if (n > COMMON_COUNT) common.set(phrase, { count: n, until: performance.now() + COMMON_FOR_MS })
    return n
  }

  /** Words of one stem count as one; a word that stands nowhere, or has no end, stands for those that begin alike. */
  function spread({ word }: Term): Spread {
    const exact = { phrase: quoted(word), count: count(quoted(word)) }
    if (exact.count > 0 || (word.length < 4 && !isUnspaced(word))) return exact
    const beginning = `${quoted(isUnspaced(word) ? word : word.slice(0, Math.max(4, word.length - 2)))}*`
    return { phrase: beginning, count: count(beginning) }
  }

  /** The best by the rarest words; where common ones had to be left out, also the best that hold the two rarest together. */
  function* byFullText(spreads: readonly Spread[], sight: ReturnType<typeof sightOf>, k: number): Generator<Row[]> {
    const present = spreads.filter((one) => one.count > 0).sort((a, b) => a.count - b.count)
    let occurrences = 0
    const ranked = present.filter((one) => {
      occurrences += one.count
      return occurrences <= MAX_OCCURRENCES
    })
    const find = (phrases: string, order: string) =>
      db.select<Row>(
        `SELECT ${COLUMNS}, iif(length(c."content") > ${MAX_CONTENT}, ${EXCERPT}, '') AS "excerpt" FROM memory_chunk_search s JOIN memory_chunk c ON c."seq" = s."rowid"
          WHERE memory_chunk_search MATCH ${BOUND_TEXT} AND ${sight.sql} ORDER BY ${order} LIMIT ${k}`,
        [phrases, ...sight.parameters],
      )
    const [rarest, next] = present
    if (ranked.length > 0) yield find(ranked.map(({ phrase }) => phrase).join(' OR '), 's."rank"')
    if (ranked.length === present.length || !rarest) return
    if (next) yield find(`${rarest.phrase} AND ${next.phrase}`, 's."rowid" DESC')
    if (ranked.length === 0) yield find(rarest.phrase, 's."rowid" DESC')
  }

  const bySeq = (seqs: readonly number[], sight: ReturnType<typeof sightOf>): Row[] =>
    seqs.length === 0
      ? []
      : db.select<Row>(`SELECT ${COLUMNS} FROM memory_chunk c WHERE c."seq" IN ${IN_LIST} AND ${sight.sql}`, [
          JSON.stringify(seqs),
          ...sight.parameters,
        ])

  /** The latest in which characters stand, wherever in a text without spaces: full text finds them at the beginning of one only. */
  const holding = (characters: string, sight: ReturnType<typeof sightOf>, k: number): Row[] =>
    db.select<Row>(
      `SELECT ${COLUMNS} FROM (SELECT "seq" FROM memory_chunk ORDER BY "seq" DESC LIMIT ${LATEST}) l JOIN memory_chunk c ON c."seq" = l."seq"
        WHERE ${sight.sql} AND iif(octet_length(c."content") <= ${MAX_LOOKED_THROUGH}, instr(c."content", ${BOUND_TEXT}), 0) > 0 LIMIT ${k}`,
      [...sight.parameters, characters],
    )

  const pinned = (sight: ReturnType<typeof sightOf>): Row[] =>
    db.select<Row>(
      `SELECT ${COLUMNS} FROM memory_chunk c WHERE c."pinned" = 1 AND ${sight.sql} ORDER BY c."observedAt" DESC LIMIT ${PINNED}`,
      [...sight.parameters],
    )

  function namesOfPeople(): Map<string, Set<string>> {
    const people = db.select<{ id: string; displayName: string; aliases: string }>('SELECT "id", "displayName", "aliases" FROM "person"')
    return new Map(
      people.map(({ id, displayName, aliases }) => [id, new Set([displayName, ...(JSON.parse(aliases) as string[])].flatMap(wordsOf))]),
    )
  }

  /** What was read lately, the latest last. */
  const kept = new Map<number, { id: string; updatedAt: string; passage: Passage }>()

  function passageOf(row: Row, stems: readonly string[], lexicon: Lexicon): Passage {
    const known = kept.get(row.seq)
    if (known?.id === row.id && known.updatedAt === row.updatedAt) return known.passage
    const text = textOf(row)
    const passage = readPassage(text, stems, lexicon)
    if (isShort(text)) {
      kept.delete(row.seq)
      kept.set(row.seq, { id: row.id, updatedAt: row.updatedAt, passage })
      if (kept.size > KEPT_PASSAGES) for (const seq of kept.keys().take(KEPT_PASSAGES / 4)) kept.delete(seq)
    }
    return passage
  }

  return {
    async search(options) {
      const { q, limit, now, timezone, preferPersonId = null } = options
      const lexicon = await loadLexicon(resourcesPath, onFault)
      const question = readQuestion(q, lexicon)
      if (question.terms.length === 0) return []
      const k = Math.max(CANDIDATES, limit)
      const offset = DateTime.fromJSDate(now, { zone: timezone }).offset || 0
      const sight = sightOf(options)

      await pace()
      const vector = await embed(question.text)
      const near = vector ? await nearest(vector, k, ownersOf(options)) : []

      const spreads: Spread[] = []
      for (const term of question.terms) {
        await pace()
        spreads.push(spread(term))
      }
      const chunks = db.select<{ n: number }>('SELECT max("seq") AS n FROM memory_chunk')[0]?.n ?? 0
      const aim: Aim = {
        question,
        weights: weightsOf(question, spreads, chunks, lexicon.vectors),
        period: periodIn(question.text, dayOf(now.getTime(), offset)),
        namesOf: namesOfPeople(),
        preferPersonId,
        now: now.getTime(),
        offset,
      }
      const match = createMatcher(question.terms, lexicon.vectors)
      const stems = question.terms.map(({ stem }) => stem)
      const ranks = new Map(near.map(({ seq }, at) => [seq, at]))
      const candidates = new Map<number, Candidate & { id: string }>()

      async function take(rows: readonly Row[]): Promise<void> {
        for (const row of rows) {
          if (candidates.has(row.seq)) continue
          await pace()
          const passage = passageOf(row, stems, lexicon)
          candidates.set(row.seq, {
            id: row.id,
            seq: row.seq,
            personId: row.personId,
            category: row.category,
            at: Date.parse(row.observedAt),
            pinned: row.pinned === 1,
            passage,
            met: match(passage),
            nearestRank: ranks.get(row.seq) ?? null,
          })
        }
      }
      function ranked(): FoundChunk[] {
        const all = [...candidates.values()]
        const scores = scoresOf(all, aim)
        return all.map(({ seq, id }, at) => ({ seq, id, score: scores[at] ?? 0 })).sort((a, b) => b.score - a.score || b.seq - a.seq)
      }
      const unseen = (seqs: Iterable<number>) => [...new Set(seqs)].filter((seq) => !candidates.has(seq))

      for (const rows of byFullText(spreads, sight, k)) {
        await take(rows)
        await pace()
      }
      for (const { word } of question.terms.filter((term) => isUnspaced(term.word)).slice(0, MOST_LOOKED_FOR)) {
        await pace()
        await take(holding(word, sight, k))
      }
      await take(bySeq(unseen(ranks.keys()), sight))
      await take(pinned(sight))
      await pace()
      const around = ranked()
        .slice(0, LEADERS)
        .flatMap(({ seq }) => Array.from({ length: 2 * REACH + 1 }, (_, at) => seq + at - REACH))
      await pace()
      await take(bySeq(unseen(around), sight))
      await pace()
      return ranked().slice(0, limit)
    },
  }
}

/** What each word weighs: mostly by how few chunks hold it, partly by how rare it is in the language. */
function weightsOf({ terms }: Question, spreads: readonly Spread[], chunks: number, vectors: WordVectors): number[] {
  return terms.map(({ rank }, at) => {
    const count = spreads[at]?.count ?? 0
    const here = Math.log(1 + (Math.max(0, chunks - count) + 0.5) / (count + 0.5))
    return 0.7 * here + 0.15 * Math.log(1 / vectors.frequency(rank))
  })
}
