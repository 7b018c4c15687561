import { DateTime } from 'luxon'
import type { Reader } from '../../../db/rows.ts'
import { BOUND_TEXT } from '../../../db/rows.ts'
import { createMatcher, type Match } from './passage.ts'
import { type Question, readQuestion, type Term } from './question.ts'
import { type Candidate, REACH, scoresOf } from './relevance.ts'
import { dayOf, periodsIn } from './spoken-dates.ts'
import { loadWordVectors, type WordVectors } from './word-vectors.ts'
import { wordsOf } from './words.ts'

/** Chunks taken from each of full text and vectors. */
const CANDIDATES = 150
/** The best whose neighbours are looked at as well. */
const LEADERS = 80
const PINNED = 30
/** Full text ranks at about a million occurrences a second: the rarest words are ranked within this many. */
const MAX_OCCURRENCES = 6_000
/** Of a long chunk this much is read; the full-text index knows all of it. */
const MAX_CONTENT = 20_000
const SLICE_MS = 8

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
  /** About 1 or more says that every word of the question is met; below 0.4 hardly anything is. */
  score: number
}

export interface ChunkSearch {
  search(options: ChunkSearchOptions): Promise<FoundChunk[]>
}

interface Dependencies {
  db: Pick<Reader, 'select'>
  /** The chunks whose vectors are nearest, best first; none while the index is not there. */
  nearest(vector: Float32Array, k: number): Promise<readonly { seq: number }[]>
  /** The question's vector by the embedder that fills the index; null while there is none. */
  embed(question: string): Promise<Float32Array | null>
  resourcesPath: string
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
}

const COLUMNS = `c."seq", c."id", c."personId", c."category", c."title", substr(c."content", 1, ${MAX_CONTENT}) AS "content", c."observedAt", c."pinned"`
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

/** The text of a chunk; a title that only repeats its beginning adds nothing. */
const textOf = ({ title, content }: Row) => {
  const own = title.replace(/…$/, '').trim()
  return own === '' || content.includes(own) ? content : `${title}. ${content}`
}

const quoted = (word: string) => `"${word.replaceAll('"', '')}"`

/** Finds the chunks that answer a question: by words, by vectors, and by what was said around them. */
export function createChunkSearch({ db, nearest, embed, resourcesPath }: Dependencies): ChunkSearch {
  /** In how many chunks a word stands; words of one stem count as one, an unknown word stands for those it begins. */
  function spread(term: Term): { phrase: string; count: number } {
    const count = (phrase: string) =>
      db.select<{ n: number }>(
        `SELECT count(*) AS n FROM (SELECT 1 FROM memory_chunk_search WHERE memory_chunk_search MATCH ${BOUND_TEXT} LIMIT 100000)`,
        [phrase],
      )[0]?.n ?? 0
    const exact = { phrase: quoted(term.word), count: count(quoted(term.word)) }
    if (exact.count > 0 || term.word.length < 4) return exact
    const beginning = `${quoted(term.word.slice(0, Math.max(4, term.word.length - 2)))}*`
    return { phrase: beginning, count: count(beginning) }
  }

  function byFullText(spreads: { phrase: string; count: number }[], sight: ReturnType<typeof sightOf>, k: number): Row[] {
    const present = spreads.filter(({ count }) => count > 0).sort((a, b) => a.count - b.count)
    const ranked: string[] = []
    let occurrences = 0
    for (const { phrase, count } of present) {
      occurrences += count
      if (occurrences <= MAX_OCCURRENCES) ranked.push(phrase)
    }
    const find = (phrases: string[], order: string) =>
      db.select<Row>(
        `SELECT ${COLUMNS} FROM memory_chunk_search s JOIN memory_chunk c ON c."seq" = s."rowid"
          WHERE memory_chunk_search MATCH ${BOUND_TEXT} AND ${sight.sql} ORDER BY ${order} LIMIT ${k}`,
        [phrases.join(' OR '), ...sight.parameters],
      )
    if (ranked.length > 0) return find(ranked, 's."rank"')
    return present[0] ? find([present[0].phrase], 's."rowid" DESC') : []
  }

  const bySeq = (seqs: readonly number[], sight: ReturnType<typeof sightOf>): Row[] =>
    seqs.length === 0
      ? []
      : db.select<Row>(`SELECT ${COLUMNS} FROM memory_chunk c WHERE c."seq" IN ${IN_LIST} AND ${sight.sql}`, [
          JSON.stringify(seqs),
          ...sight.parameters,
        ])

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

  return {
    async search(options) {
      const { q, limit, now, timezone, preferPersonId = null } = options
      const vectors = await loadWordVectors(resourcesPath)
      const question = readQuestion(q, vectors)
      if (question.terms.length === 0) return []
      const k = Math.max(CANDIDATES, limit)
      const offset = DateTime.fromJSDate(now, { zone: timezone }).offset || 0
      const sight = sightOf(options)

      const vector = await embed(question.text)
      const near = vector ? await nearest(vector, k) : []
      const periods = await periodsIn(question.text, now, offset)

      const pace = createPace()
      const rows = new Map<number, Row>()
      const take = (found: readonly Row[]) => {
        for (const row of found) rows.set(row.seq, row)
      }
      const spreads = question.terms.map(spread)
      await pace()
      take(byFullText(spreads, sight, k))
      await pace()
      take(
        bySeq(
          near.map(({ seq }) => seq).filter((seq) => !rows.has(seq)),
          sight,
        ),
      )
      take(pinned(sight))
      await pace()

      const match = createMatcher(question, vectors)
      const matches = new Map<number, Match>()
      const ranks = new Map(near.map(({ seq }, at) => [seq, at]))
      const namesOf = namesOfPeople()
      const weights = weightsOf(question, spreads, db.select<{ n: number }>('SELECT max("seq") AS n FROM memory_chunk')[0]?.n ?? 0, vectors)
      const ranking = async (): Promise<{ row: Row; score: number }[]> => {
        const candidates: Candidate[] = []
        for (const row of rows.values()) {
          let known = matches.get(row.seq)
          if (!known) {
            await pace()
            known = match(textOf(row))
            matches.set(row.seq, known)
          }
          const at = Date.parse(row.observedAt)
          candidates.push({
            seq: row.seq,
            personId: row.personId,
            category: row.category,
            at,
            day: dayOf(at, offset),
            pinned: row.pinned === 1,
            match: known,
            nearestRank: ranks.get(row.seq) ?? null,
          })
        }
        const words = question.terms.map(({ word }) => word)
        const scores = scoresOf(candidates, { weights, words, periods, namesOf, preferPersonId, now: now.getTime() })
        return [...rows.values()]
          .map((row, at) => ({ row, score: scores[at] ?? 0 }))
          .sort((a, b) => b.score - a.score || b.row.seq - a.row.seq)
      }

      const leaders = (await ranking()).slice(0, LEADERS)
      const around = new Set(
        leaders
          .flatMap(({ row }) => Array.from({ length: 2 * REACH + 1 }, (_, at) => row.seq + at - REACH))
          .filter((seq) => !rows.has(seq)),
      )
      await pace()
      take(bySeq([...around], sight))
      return (await ranking()).slice(0, limit).map(({ row, score }) => ({ seq: row.seq, id: row.id, score }))
    },
  }
}

/** Lets others have a turn once some milliseconds of work have gone by. */
function createPace(): () => Promise<void> | undefined {
  let turn = performance.now()
  return () => {
    if (performance.now() - turn < SLICE_MS) return undefined
    return new Promise<void>((resolve) =>
      setImmediate(() => {
        turn = performance.now()
        resolve()
      }),
    )
  }
}

/** What each word weighs: mostly by how few chunks hold it, partly by how rare it is in the language. */
function weightsOf({ terms }: Question, spreads: readonly { count: number }[], chunks: number, vectors: WordVectors): number[] {
  return terms.map(({ rank }, at) => {
    const count = spreads[at]?.count ?? 0
    const here = Math.log(1 + (Math.max(0, chunks - count) + 0.5) / (count + 0.5))
    return 0.7 * here + 0.15 * Math.log(1 / vectors.frequency(rank))
  })
}
