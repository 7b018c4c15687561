import type BetterSqlite3 from 'better-sqlite3'
import type { EntitySchema } from 'typeorm'

type Value = string | number | bigint | Buffer | null

export interface FindOptions<Row> {
  order?: `${keyof Row & string} ${'asc' | 'desc'}`
  limit?: number
}

export interface Reader {
  get<Row extends object>(table: EntitySchema<Row>, id: string): Row | undefined
  /** The first row that equals `where` in every field given; null matches null. */
  first<Row extends object>(table: EntitySchema<Row>, where: Partial<Row>, options?: FindOptions<Row>): Row | undefined
  find<Row extends object>(table: EntitySchema<Row>, where?: Partial<Row>, options?: FindOptions<Row>): Row[]
  /** Rows of a query in SQL, for joins and full text; `parameters` are bound, never spliced in. */
  select<Row>(sql: string, parameters?: Value[]): Row[]
}

export interface Writer {
  insert<Row extends object>(table: EntitySchema<Row>, row: Row): void
  /** Changes the fields of `patch`; answers whether there was such a row. */
  update<Row extends object>(table: EntitySchema<Row>, id: string, patch: Partial<Row>): boolean
  /** Removes the rows that equal `where`, which must name a field; answers how many. */
  remove<Row extends object>(table: EntitySchema<Row>, where: Partial<Row>): number
  /** A statement in SQL; answers how many rows it changed. */
  run(sql: string, parameters?: Value[]): number
}

interface Shape<Row> {
  name: string
  /** Columns stored otherwise than they are read: booleans as 0 and 1, objects as JSON. */
  coded: [key: keyof Row & string, kind: 'boolean' | 'json'][]
}

/**
 * A bare parameter in a condition makes SQLite (built with STAT4) plan the statement anew at every binding, which costs
 * ten times the query; inside an expression it does not.
 */
export const BOUND_TEXT = "(? || '')"
const BOUND_NUMBER = '(? + 0)'

/**
 * Reads and writes the rows of declared tables by prepared statements. TypeORM declares and migrates the tables; its
 * finders reach a fifth of the speed and its asynchronous transactions would mix on the one connection.
 */
export function createRows(db: BetterSqlite3.Database): Reader & Writer {
  const shapes = new Map<EntitySchema<never>, Shape<never>>()
  const statements = new Map<string, BetterSqlite3.Statement>()
  const byId = new Map<EntitySchema<never>, { statement: BetterSqlite3.Statement; shape: Shape<never> }>()

  function shapeOf<Row>(table: EntitySchema<Row>): Shape<Row> {
    const known = shapes.get(table as never)
    if (known) return known as unknown as Shape<Row>
    const columns = Object.entries(table.options.columns) as [keyof Row & string, { type?: unknown }][]
    const coded: Shape<Row>['coded'] = []
    for (const [key, { type }] of columns) {
      if (type === 'boolean') coded.push([key, 'boolean'])
      if (type === 'simple-json') coded.push([key, 'json'])
    }
    const shape: Shape<Row> = { name: table.options.name, coded }
    shapes.set(table as never, shape as never)
    return shape
  }

  function prepare(sql: string): BetterSqlite3.Statement {
    const statement = statements.get(sql) ?? db.prepare(sql)
    statements.set(sql, statement)
    return statement
  }

  function decode<Row>({ coded }: Shape<Row>, row: unknown): Row {
    const record = row as Record<string, unknown>
    for (const [key, kind] of coded) {
      const value = record[key]
      if (value !== null) record[key] = kind === 'boolean' ? value === 1 : JSON.parse(value as string)
    }
    return record as Row
  }

  function encode<Row extends object>({ coded }: Shape<Row>, row: Partial<Row>): Value[] {
    const kinds = new Map<string, string>(coded)
    return Object.entries(row).map(([key, value]) => {
      const kind = kinds.get(key)
      if (value === null || value === undefined || !kind) return (value ?? null) as Value
      return kind === 'boolean' ? Number(value) : JSON.stringify(value)
    })
  }

  const condition = (where: object) =>
    Object.entries(where)
      .map(([key, value]) =>
        value === null ? `"${key}" IS NULL` : `"${key}" = ${['number', 'boolean'].includes(typeof value) ? BOUND_NUMBER : BOUND_TEXT}`,
      )
      .join(' AND ')
  const present = <Row extends object>(where: Partial<Row>) =>
    Object.fromEntries(Object.entries(where).filter(([, value]) => value !== null)) as Partial<Row>

  function find<Row extends object>(table: EntitySchema<Row>, where: Partial<Row> = {}, { order, limit }: FindOptions<Row> = {}): Row[] {
    const shape = shapeOf(table)
    const filter = condition(where)
    const [key, direction] = order?.split(' ') ?? []
    const sql = `SELECT * FROM "${shape.name}"${filter && ` WHERE ${filter}`}${key ? ` ORDER BY "${key}" ${direction}` : ''} LIMIT ${BOUND_NUMBER}`
    return prepare(sql)
      .all(...encode(shape, present(where)), limit ?? -1)
      .map((row) => decode(shape, row))
  }

  return {
    get<Row extends object>(table: EntitySchema<Row>, rowId: string): Row | undefined {
      let known = byId.get(table as never)
      if (!known) {
        const shape = shapeOf(table)
        known = { shape: shape as never, statement: db.prepare(`SELECT * FROM "${shape.name}" WHERE "id" = ?`) }
        byId.set(table as never, known)
      }
      const row = known.statement.get(rowId)
      return row === undefined ? undefined : decode(known.shape as unknown as Shape<Row>, row)
    },
    find,
    first: (table, where, options) => find(table, where, { ...options, limit: 1 })[0],
    select: <Row>(sql: string, parameters: Value[] = []) => prepare(sql).all(...parameters) as Row[],
    insert(table, row) {
      const shape = shapeOf(table)
      const keys = Object.keys(row)
      prepare(`INSERT INTO "${shape.name}" (${keys.map((key) => `"${key}"`).join(', ')}) VALUES (${keys.map(() => '?').join(', ')})`).run(
        ...encode(shape, row),
      )
    },
    update(table, rowId, patch) {
      const shape = shapeOf(table)
      const set = Object.keys(patch).map((key) => `"${key}" = ?`)
      if (set.length === 0) return true
      return prepare(`UPDATE "${shape.name}" SET ${set.join(', ')} WHERE "id" = ?`).run(...encode(shape, patch), rowId).changes > 0
    },
    remove(table, where) {
      const shape = shapeOf(table)
      if (Object.keys(where).length === 0) throw new Error(`Refusing to remove every row of ${shape.name}`)
      return prepare(`DELETE FROM "${shape.name}" WHERE ${condition(where)}`).run(...encode(shape, present(where))).changes
    },
    run: (sql, parameters = []) => prepare(sql).run(...parameters).changes,
  }
}
