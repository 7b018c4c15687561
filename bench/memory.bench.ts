import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import BetterSqlite3 from 'better-sqlite3'
import { load as loadSqliteVec } from 'sqlite-vec'
import { type Database, openDatabase } from '../server/db/database.ts'
import { migrations } from '../server/db/migrations/all.ts'
import { createEventBus } from '../server/kit/events.ts'
import { createLog } from '../server/kit/log.ts'
import { createHouseholdService } from '../server/modules/household/household.service.ts'
import { createChunksService } from '../server/modules/memory/chunks.service.ts'
import { createFactsService } from '../server/modules/memory/facts.service.ts'
import { createDefaultEmbedder } from '../server/modules/memory/ranking/default-embedder.ts'
import { createChunkVectors } from '../server/modules/memory/vectors/chunk-vectors.ts'
import { createExactVectors } from '../server/modules/memory/vectors/exact-vectors.ts'
import { type HnswGraph, loadHnsw, SEARCH_WIDTH } from '../server/modules/memory/vectors/hnsw-library.ts'
import { tables } from '../server/tables.ts'
import { median, percentile, report } from './support/measure.ts'

/**
 * The search of memory at several sizes (arguments; 1,000, 10,000 and 100,000 unless stated) against an exact scan, hnswlib-node used bare
 * on the same graph, sqlite-vec and FTS5 used bare. The graph of 100,000 is made once, in its worker, which takes most of the time.
 */
const SIZES = process.argv.slice(2).map(Number).filter(Boolean)
const K = 10
const QUERIES = 120
const BATCH = 20
const TOPICS = 400
const WORDS_IN_TOPIC = 40
const resourcesPath = join(import.meta.dirname, '..', 'resources')
const log = createLog('error')
const embedder = createDefaultEmbedder(resourcesPath)
const MODEL = embedder.name

let state = 42
const random = (): number => {
  state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
  return state / 2 ** 32
}
const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)] as T

/** Texts of real words, each about something: what stands in them once is half of the query that looks for them. */
const VOCABULARY = `boiler kitchen garden bicycle school teacher doctor dentist holiday mountain beach train ticket passport insurance
  washing machine fridge oven recipe tomato onion garlic bread butter cheese coffee tea sugar flour birthday party candle present balloon
  grandmother cousin neighbour letter postman package window curtain carpet hammer screwdriver ladder paint brush bucket hose lawn hedge
  rose tulip apple pear cherry plum dog cat rabbit hamster aquarium fish piano guitar violin choir concert theatre cinema museum library
  book novel poem newspaper radio television computer printer keyboard password wifi router cable battery charger lamp bulb switch
  thermostat radiator chimney roof gutter cellar attic garage car tyre petrol engine bus tram ferry airport suitcase hotel tent sleeping
  bag rope boots jacket scarf gloves hat umbrella rain snow storm sunshine spring summer autumn winter monday friday weekend morning
  evening breakfast lunch dinner soup salad pasta rice potato chicken salmon cake biscuit chocolate icecream juice water wine glass plate
  fork knife spoon pan kettle toaster vacuum broom mop soap shampoo towel mirror pillow blanket mattress wardrobe drawer shelf sofa`.split(
  /\s+/,
)
const topics = Array.from({ length: TOPICS }, () => Array.from({ length: WORDS_IN_TOPIC }, () => pick(VOCABULARY)))
const text = (n: number): string => {
  const topic = pick(topics)
  const words = Array.from({ length: 12 + Math.floor(random() * 25) }, () => (random() < 0.8 ? pick(topic) : pick(VOCABULARY)))
  return `Note ${n}: the ${words.join(' ')}`
}

const unclean = { wasUnclean: false, log, onDiskFailure: (error: unknown) => void log.error({ err: error }) }
const open = (dir: string) =>
  openDatabase({ path: join(dir, 'hearth.sqlite'), backupsPath: join(dir, 'backups'), tables, migrations, ...unclean })
const bytesOf = (vector: Float32Array) => Buffer.from(vector.buffer, vector.byteOffset, vector.byteLength)

/** Answers all vectors in one piece, so that tidying up this side's memory is no part of what is measured. */
async function fill(db: Database, size: number): Promise<Float32Array> {
  const all = new Float32Array(size * embedder.dimensions)
  for (let from = 0; from < size; from += 500) {
    const texts = Array.from({ length: Math.min(500, size - from) }, (_, n) => text(from + n))
    const vectors = await embedder.embed(texts, 'passage')
    for (const [n, vector] of vectors.entries()) all.set(vector, (from + n) * embedder.dimensions)
    await db.write((tx) => {
      for (const [n, content] of texts.entries()) {
        const seq = from + n + 1
        const at = new Date(1_700_000_000_000 + seq * 60_000).toISOString()
        tx.run(`INSERT INTO "memory_chunk" VALUES (?, ?, 'h', NULL, 'note', 'general', ?, ?, ?, 0, 0, ?, NULL, NULL, NULL, ?, ?)`, [
          seq,
          crypto.randomUUID(),
          content.slice(0, 100),
          content,
          at,
          MODEL,
          at,
          at,
        ])
        tx.run('INSERT INTO "memory_vector" VALUES (?, ?, ?)', [seq, MODEL, bytesOf(vectors[n] as Float32Array)])
        tx.run('INSERT INTO "memory_entry" VALUES (?, ?, ?, ?, ?, ?)', [seq, crypto.randomUUID(), 'general', `key ${seq}`, content, at])
      }
    })
  }
  return all
}

/** Processor time is asked for this seldom, so that watching makes no garbage of its own; milliseconds. */
const ASK_EVERY = 1

/**
 * The longest turn of the loop, in milliseconds: by the clock, but no more than this thread's processor time, so that a busy machine does not
 * count.
 */
function watchLoop(): { longest(): number; stop(): void } {
  const processor = () => {
    const { user, system } = process.threadCpuUsage()
    return (user + system) / 1_000
  }
  let longest = 0
  let last = performance.now()
  let asked = { at: last, spent: processor() }
  let immediate = setImmediate(function turn() {
    const now = performance.now()
    if (now - asked.at >= ASK_EVERY) {
      const spent = processor()
      longest = Math.max(longest, Math.min(now - last, spent - asked.spent))
      asked = { at: now, spent }
    }
    last = now
    immediate = setImmediate(turn)
  })
  return {
    longest: () => longest,
    stop: () => clearImmediate(immediate),
  }
}

/**
 * The contenders in turn, a batch of queries each, so that what disturbs the machine disturbs all of them and yet none finds the processor's
 * caches full of another's vectors at every query; milliseconds.
 */
async function inTurn<Name extends string>(queries: readonly Float32Array[], contenders: Record<Name, (query: Float32Array) => unknown>) {
  const names = Object.keys(contenders) as Name[]
  const took = Object.fromEntries(names.map((name) => [name, [] as number[]])) as Record<Name, number[]>
  for (let from = -BATCH; from < queries.length; from += BATCH) {
    for (const name of names) {
      for (const query of queries.slice(Math.max(0, from), Math.max(0, from) + BATCH)) {
        const began = performance.now()
        await contenders[name](query)
        if (from >= 0) took[name].push(performance.now() - began)
      }
    }
  }
  return took
}

/** Frees what filling left behind and gives the memory back, so that V8 does not do it while something is measured. */
function tidyUp(): void {
  setFlagsFromString('--expose-gc')
  const gc = runInNewContext('gc') as (options: { type: 'major'; execution: 'sync'; flavor: 'last-resort' }) => void
  gc({ type: 'major', execution: 'sync', flavor: 'last-resort' })
}

const ROWS = 'SELECT * FROM "memory_chunk" WHERE "seq" IN (SELECT "value" FROM json_each(?))'

async function measure(size: number): Promise<void> {
  const dir = mkdtempSync(join(tmpdir(), 'hearth-bench-memory-'))
  const db = await open(dir)
  await db.write((tx) => createHouseholdService({ db }).found(tx, { ownerName: 'Ada', displayName: 'Home', timezone: 'UTC', locale: 'en' }))
  const household = createHouseholdService({ db })
  const stored = await fill(db, size)
  const vectorAt = (place: number) => stored.subarray(place * embedder.dimensions, (place + 1) * embedder.dimensions)
  const events = createEventBus((err) => log.error({ err }))
  const folder = join(dir, 'index')
  const embedders = { current: () => embedder, onChange: () => () => undefined }
  const vectors = createChunkVectors({
    db,
    events,
    embedders,
    defaultEmbedder: embedder,
    databasePath: join(dir, 'hearth.sqlite'),
    folder,
    log,
  })
  const chunks = createChunksService({ db, events, household, vectors, resourcesPath })
  const facts = createFactsService({ db, events })
  const shown = size.toLocaleString('en').padStart(7)
  const what = (name: string) => `${shown} chunks: ${name}`

  tidyUp()
  const residentBefore = process.memoryUsage().rss
  const opening = watchLoop()
  const began = performance.now()
  await vectors.start()
  while (vectors.status().status !== 'ready') await wait(20)
  report(what('seconds until the index is made from nothing'), (performance.now() - began) / 1_000, 'report')
  report(what('longest the loop was held up meanwhile, ms'), opening.longest(), '≤ 20')
  opening.stop()
  report(what('resident memory for each 10,000, MB'), ((process.memoryUsage().rss - residentBefore) / 2 ** 20 / size) * 10_000, 'report')

  const asked = Array.from({ length: QUERIES }, () => text(0))
  const queries = await embedder.embed(asked, 'query')
  const raw = new BetterSqlite3(join(dir, 'hearth.sqlite'), { readonly: true })
  const rawRows = raw.prepare(ROWS)
  const exact = createExactVectors(embedder.dimensions)
  for (let place = 0; place < size; place++) exact.set(place + 1, vectorAt(place), 0)
  const flat = new BetterSqlite3(':memory:')
  loadSqliteVec(flat)
  flat.exec(`CREATE VIRTUAL TABLE v USING vec0(embedding float[${embedder.dimensions}])`)
  const insert = flat.prepare('INSERT INTO v(rowid, embedding) VALUES (?, ?)')
  flat.transaction(() => {
    for (let place = 0; place < size; place++) insert.run(BigInt(place + 1), bytesOf(vectorAt(place)))
  })()
  const byVec = flat.prepare(`SELECT rowid FROM v WHERE embedding MATCH ? AND k = ${K}`)

  const hnsw = await loadHnsw()
  const saved = existsSync(folder) && readdirSync(folder, { recursive: true, encoding: 'utf8' }).find((name) => name.endsWith('.hnsw'))
  let graph: HnswGraph | null = null
  if (hnsw) {
    graph = new hnsw.HierarchicalNSW('ip', embedder.dimensions)
    if (saved) graph.readIndexSync(join(folder, saved))
    else {
      graph.initIndex(size, 16, 200)
      for (let place = 0; place < size; place++) graph.addPoint(Array.from(vectorAt(place)), place + 1)
    }
    graph.setEf(SEARCH_WIDTH)
  }
  const ours = async (query: Float32Array) => {
    const near = await vectors.nearest(query, K, 'all')
    return db.select(ROWS, [JSON.stringify(near.map(({ seq }) => seq))])
  }
  const took = await inTurn(queries, {
    ours,
    exact: (query) => exact.search(query, K),
    sqliteVec: (query) => rawRows.all(JSON.stringify((byVec.all(bytesOf(query)) as { rowid: number }[]).map(({ rowid }) => rowid))),
    bare: (query) => graph && rawRows.all(JSON.stringify(graph.searchKnn(Array.from(query), K).neighbors)),
  })
  let hits = 0
  for (const query of queries) {
    const truth = await exact.search(query, K)
    const last = truth.at(-1)?.similarity ?? 0
    hits += (await vectors.nearest(query, K, 'all')).filter(({ similarity }) => similarity >= last - 1e-5).length
  }
  report(what('nearest ten that an exact scan finds, share found'), hits / (K * QUERIES), '≥ 0.98')
  report(what('p50 with the rows fetched, ms'), median(took.ours), 'report')
  if (graph)
    report(
      what('p50 over hnswlib-node bare with the rows fetched'),
      median(took.ours) / median(took.bare),
      size < 5_000 ? 'report' : '≤ 1.25',
    )
  report(what('times faster than sqlite-vec'), median(took.sqliteVec) / median(took.ours), size >= 100_000 ? '≥ 20' : 'report')
  report(what('times faster than an exact scan'), median(took.exact) / median(took.ours), 'report')

  const search = raw.prepare(`SELECT m.* FROM "memory_entry_search" JOIN "memory_entry" m ON m."seq" = "memory_entry_search"."rowid"
    WHERE "memory_entry_search" MATCH ? ORDER BY "memory_entry_search"."rank" LIMIT 20`)
  const phrases = Array.from({ length: 1_000 }, () => [pick(VOCABULARY), pick(VOCABULARY)] as const)
  const fullText = { ours: [] as number[], bare: [] as number[] }
  for (const [place, [one, other]] of phrases.entries()) {
    const contenders = { ours: () => facts.list({ q: `${one} ${other}`, limit: 20 }), bare: () => search.all(`"${one}" "${other}"`) }
    for (const name of place % 2 === 0 ? (['ours', 'bare'] as const) : (['bare', 'ours'] as const)) {
      const at = performance.now()
      contenders[name]()
      fullText[name].push(performance.now() - at)
    }
  }
  report(what('full text, p99 over FTS5 bare'), percentile(fullText.ours, 0.99) / percentile(fullText.bare, 0.99), '≤ 1.3')

  for (const question of asked.slice(60, 70)) await chunks.searchFor(null, question, 20)
  const searching = watchLoop()
  const whole: number[] = []
  for (const question of asked.slice(0, 60)) {
    const at = performance.now()
    await chunks.searchFor(null, question.split(' ').slice(3, 9).join(' '), 20)
    whole.push(performance.now() - at)
  }
  report(what('a whole search (words, vectors, neighbours, ranking), p50 ms'), median(whole), 'report')
  report(what('a whole search, p99 ms'), percentile(whole, 0.99), 'report')
  report(what('longest the loop was held up by searching, ms'), searching.longest(), '≤ 20')
  searching.stop()
  const visible: number[] = []
  const keeping = watchLoop()
  for (let n = 0; n < 30; n++) {
    const { id } = await chunks.keep({ source: 'note', content: `The quixotic zyzzyva number ${n} lives in drawer ${n}` })
    const at = performance.now()
    while (!(await chunks.searchFor(null, `zyzzyva number ${n} drawer`, 20)).some((chunk) => chunk.id === id)) {
      if (performance.now() - at > 1_000) break
    }
    visible.push(performance.now() - at)
  }
  report(what('longest until what was kept is found, ms'), Math.max(...visible), '≤ 100')
  report(what('longest the loop was held up by keeping and finding, ms'), keeping.longest(), '≤ 20')
  keeping.stop()
  raw.close()
  flat.close()
  await vectors.stop()
  await db.close()
  rmSync(dir, { recursive: true, force: true })
}

for (const size of SIZES.length > 0 ? SIZES : [1_000, 10_000, 100_000]) await measure(size)
