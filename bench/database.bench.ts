import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { openDatabase } from '../server/db/database.ts'
import { migrations } from '../server/db/migrations/all.ts'
import { createLog } from '../server/kit/log.ts'
import { ConversationTable } from '../server/modules/chat/chat.table.ts'
import { tables } from '../server/tables.ts'
import { load } from './support/load.ts'
import { interleave, median, report } from './support/measure.ts'
import { credentials, startServer } from './support/server-process.ts'

/** Durable writes and reads by id, each against better-sqlite3 used bare on the same disk. */
const ROUNDS = 7
const MS = 1_000
const READS = 50_000

const dir = mkdtempSync(join(tmpdir(), 'hearth-bench-db-'))
const bare = new Database(join(dir, 'bare.sqlite'))
bare.pragma('journal_mode = WAL')
bare.pragma('synchronous = FULL')
bare.exec('CREATE TABLE "conversation" ("id" text PRIMARY KEY NOT NULL, "title" text NOT NULL)')
bare.prepare('INSERT INTO "conversation" VALUES (?, ?)').run('one', 'First')
const rename = bare.prepare('UPDATE "conversation" SET "title" = ? WHERE "id" = ?')

/** Commits one by one for a while, as a server without group commit would at its best. */
async function bareWrites(): Promise<number> {
  const startedAt = performance.now()
  let done = 0
  while (performance.now() - startedAt < MS) rename.run(`Title ${done++}`, 'one')
  return done / ((performance.now() - startedAt) / 1000)
}

const hearth = await startServer({ core: 0 })
const { key } = await credentials(hearth)
const authorization = `Bearer ${key}`
const said = await fetch(`${hearth.url}/api/chat`, {
  method: 'POST',
  headers: { authorization, 'content-type': 'application/json' },
  body: '{"message":"hello"}',
})
const { conversationId } = JSON.parse((await said.text()).split('\n')[0] ?? '') as { conversationId: string }
const overHttp = (connections: number) => async () => {
  const body = (n: number) => JSON.stringify({ title: `Title ${n}` })
  const url = `${hearth.url}/api/chat/conversations/${conversationId}`
  return (await load({ url, pid: hearth.pid, connections, ms: MS, method: 'POST', headers: { authorization }, body })).rate
}

const db = await openDatabase({
  path: join(dir, 'house.sqlite'),
  backupsPath: join(dir, 'backups'),
  tables,
  migrations,
  wasUnclean: false,
  log: createLog('fatal'),
  onDiskFailure(error) {
    throw error
  },
})
const at = new Date().toISOString()
const ids = Array.from({ length: 1_000 }, (_, n) => `conversation-${n}`)
await db.write((tx) => {
  for (const id of ids) tx.insert(ConversationTable, { id, deviceId: 'd', personId: null, title: 'A title', createdAt: at, updatedAt: at })
})
const raw = new Database(join(dir, 'house.sqlite'), { readonly: true })
const statement = raw.prepare('SELECT * FROM "conversation" WHERE "id" = ?')
const readRate = (read: (id: string) => unknown) => async () => {
  const startedAt = performance.now()
  for (let n = 0; n < READS; n++) read(ids[n % ids.length] as string)
  return READS / ((performance.now() - startedAt) / 1000)
}

/** 64 writers at once in this process, without HTTP around them. */
async function groupedWrites(): Promise<number> {
  const startedAt = performance.now()
  let done = 0
  const writer = async () => {
    while (performance.now() - startedAt < MS) {
      await db.write((tx) => tx.update(ConversationTable, ids[done % ids.length] as string, { title: `Title ${done}` }))
      done += 1
    }
  }
  await Promise.all(Array.from({ length: 64 }, writer))
  return done / ((performance.now() - startedAt) / 1000)
}

await interleave(1, { bareWrites, http: overHttp(64), groupedWrites })
const writes = await interleave(ROUNDS, { bareWrites, http: overHttp(64), groupedWrites })
const reads = await interleave(ROUNDS, { raw: readRate((id) => statement.get(id)), ours: readRate((id) => db.get(ConversationTable, id)) })
const ratio = (ours: number[], theirs: number[]) => median(ours.map((value, round) => value / (theirs[round] ?? Number.NaN)))

report('durable writes, 64 connections over HTTP, over bare commits one by one', ratio(writes.http, writes.bareWrites), '≥ 1.5')
report('durable writes, 64 writers in process, over bare commits one by one', ratio(writes.groupedWrites, writes.bareWrites), '≥ 1.5')
report('reads by id through the row layer over a bare prepared statement', ratio(reads.ours, reads.raw), '≥ 0.7')
raw.close()
bare.close()
await db.close()
await hearth.stop()
rmSync(dir, { recursive: true, force: true })
