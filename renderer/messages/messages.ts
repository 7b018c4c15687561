import { en } from './en.ts'

type Catalogue = typeof en
/** The name of a message, `area.thing`. */
export type MessageKey = keyof Catalogue
type Params<K extends MessageKey> = Catalogue[K] extends (...params: infer P) => string ? P : []
/** Messages that need no parameters, for tables of labels. */
export type PlainKey = { [K in MessageKey]: Catalogue[K] extends string ? K : never }[MessageKey]

/** The text of a message; keys and parameters are checked by the compiler. */
export function t<K extends MessageKey>(key: K, ...params: Params<K>): string {
  const message: unknown = en[key]
  return typeof message === 'function' ? String(message(...params)) : String(message)
}
