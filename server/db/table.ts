import { EntitySchema, type EntitySchemaColumnOptions } from 'typeorm'

type ColumnType<T> = EntitySchemaColumnOptions &
  (T extends boolean ? { type: 'boolean' } : T extends Buffer ? { type: 'blob' } : { type: 'text' | 'integer' | 'simple-json' })

/** Declares a table whose columns are the properties of `Row`, under the same names. */
export function table<Row extends object>(
  name: string,
  columns: { [K in keyof Row]: ColumnType<Row[K]> },
  indices: { name: string; columns: (keyof Row & string)[]; unique?: boolean; where?: string }[] = [],
  foreignKeys: {
    name: string
    columnNames: (keyof Row & string)[]
    target: string
    referencedColumnNames: string[]
    onDelete: 'CASCADE' | 'SET NULL'
  }[] = [],
): EntitySchema<Row> {
  return new EntitySchema<Row>({ name, columns: columns as never, indices, foreignKeys })
}

export const id = { type: 'text', primary: true } as const
export const text = { type: 'text' } as const
export const textOrNull = { type: 'text', nullable: true } as const
export const integer = { type: 'integer' } as const
