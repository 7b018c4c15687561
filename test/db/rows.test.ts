import BetterSqlite3 from 'better-sqlite3'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createRows } from '../../server/db/rows.ts'
import { id, integer, table, text, textOrNull } from '../../server/db/table.ts'

interface LampRow {
  id: string
  name: string
  room: string | null
  brightness: number
  isOn: boolean
  scenes: { name: string; level: number }[]
  config: { colour: string } | null
}
const LampTable = table<LampRow>('lamp', {
  id,
  name: text,
  room: textOrNull,
  brightness: integer,
  isOn: { type: 'boolean' },
  scenes: { type: 'simple-json' },
  config: { type: 'simple-json', nullable: true },
})

let db: BetterSqlite3.Database
let rows: ReturnType<typeof createRows>
beforeEach(() => {
  db = new BetterSqlite3(':memory:')
  db.exec(`CREATE TABLE "lamp" ("id" text PRIMARY KEY, "name" text NOT NULL, "room" text, "brightness" integer NOT NULL,
    "isOn" boolean NOT NULL, "scenes" text NOT NULL, "config" text)`)
  rows = createRows(db)
})
afterEach(() => db.close())

const lamp = (values: Partial<LampRow> & { id: string }): LampRow => ({
  name: 'Desk',
  room: null,
  brightness: 7,
  isOn: false,
  scenes: [],
  config: null,
  ...values,
})

test('a row comes back as it went in: text, numbers, booleans, JSON and nulls', () => {
  const odd = lamp({
    id: 'a',
    name: `O'Hara "quoted"; DROP TABLE lamp -- 🏠`,
    room: '',
    isOn: true,
    scenes: [{ name: 'Evening', level: 0.5 }],
    config: { colour: 'null' },
  })
  rows.insert(LampTable, odd)
  rows.insert(LampTable, lamp({ id: 'b' }))
  expect(rows.get(LampTable, 'a')).toEqual(odd)
  expect(rows.get(LampTable, 'b')).toEqual(lamp({ id: 'b' }))
  expect(rows.find(LampTable)).toEqual([odd, lamp({ id: 'b' })])
  expect(rows.get(LampTable, 'c')).toBeUndefined()
  expect(db.prepare('SELECT "isOn", "config" FROM "lamp" ORDER BY "id"').raw().all()).toEqual([
    [1, '{"colour":"null"}'],
    [0, null],
  ])
})

test('where matches every field given: booleans, JSON, and null as null', () => {
  rows.insert(LampTable, lamp({ id: 'a', room: 'hall', isOn: true }))
  rows.insert(LampTable, lamp({ id: 'b', room: null, isOn: true }))
  rows.insert(LampTable, lamp({ id: 'c', room: null, isOn: false, scenes: [{ name: 'Night', level: 1 }] }))
  const ids = (where: Partial<LampRow>) => rows.find(LampTable, where).map((row) => row.id)
  expect(ids({ isOn: true })).toEqual(['a', 'b'])
  expect(ids({ room: null })).toEqual(['b', 'c'])
  expect(ids({ room: null, isOn: true })).toEqual(['b'])
  expect(ids({ room: 'hall', isOn: false })).toEqual([])
  expect(ids({ scenes: [{ name: 'Night', level: 1 }] })).toEqual(['c'])
  expect(rows.first(LampTable, { room: null }, { order: 'id desc' })?.id).toBe('c')
  expect(rows.first(LampTable, { room: 'attic' })).toBeUndefined()
})

test('order and limit hold, and a limit of zero gives nothing', () => {
  for (const [index, name] of ['c', 'a', 'd', 'b'].entries()) rows.insert(LampTable, lamp({ id: name, brightness: index }))
  expect(rows.find(LampTable, {}, { order: 'brightness desc', limit: 2 }).map((row) => row.id)).toEqual(['b', 'd'])
  expect(rows.find(LampTable, {}, { order: 'id asc' }).map((row) => row.id)).toEqual(['a', 'b', 'c', 'd'])
  expect(rows.find(LampTable, {}, { limit: 0 })).toEqual([])
})

test('update changes the fields of the patch alone, null included, and says whether there was such a row', () => {
  rows.insert(LampTable, lamp({ id: 'a', room: 'hall', config: { colour: 'red' } }))
  rows.insert(LampTable, lamp({ id: 'b', room: 'hall' }))
  expect(rows.update(LampTable, 'a', { isOn: true, config: null, scenes: [{ name: 'x', level: 1 }], room: null })).toBe(true)
  expect(rows.get(LampTable, 'a')).toEqual(lamp({ id: 'a', isOn: true, scenes: [{ name: 'x', level: 1 }] }))
  expect(rows.get(LampTable, 'b')).toEqual(lamp({ id: 'b', room: 'hall' }))
  expect(rows.update(LampTable, 'c', { isOn: true })).toBe(false)
})

test('remove counts what it removed, finds null, and refuses to empty a table', () => {
  for (const name of ['a', 'b', 'c']) rows.insert(LampTable, lamp({ id: name, room: name === 'a' ? 'hall' : null }))
  expect(rows.remove(LampTable, { room: null })).toBe(2)
  expect(rows.remove(LampTable, { id: 'b' })).toBe(0)
  expect(() => rows.remove(LampTable, {})).toThrow('every row of lamp')
  expect(rows.find(LampTable).map((row) => row.id)).toEqual(['a'])
})

test('a second row under the same id is refused', () => {
  rows.insert(LampTable, lamp({ id: 'a' }))
  expect(() => rows.insert(LampTable, lamp({ id: 'a', name: 'Other' }))).toThrow('UNIQUE')
  expect(rows.get(LampTable, 'a')?.name).toBe('Desk')
})

test('SQL of its own is bound, never spliced in', () => {
  rows.insert(LampTable, lamp({ id: 'a', brightness: 3 }))
  rows.insert(LampTable, lamp({ id: 'b', brightness: 9 }))
  expect(rows.select('SELECT "id" FROM "lamp" WHERE "brightness" > ?', [5])).toEqual([{ id: 'b' }])
  expect(rows.select('SELECT "id" FROM "lamp" WHERE "name" = ?', [`' OR 1=1 --`])).toEqual([])
  expect(rows.run('UPDATE "lamp" SET "brightness" = ? WHERE "brightness" < ?', [1, 5])).toBe(1)
})
