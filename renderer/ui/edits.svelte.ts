import { hasStatus } from '../messages/field-errors.ts'
import { differing, meeting } from './differing.ts'

/** What the fields of a form are called, and how a value of theirs is said. */
export type FieldWords<V> = { [K in keyof V]: (theirs: V) => [label: string, value: string] }

interface Source<R, V, B> {
  /** Null for something new. */
  record: R | null
  /** What the fields say of a record, or of something new. */
  valuesOf: (record: R | null) => V
  /** What of the fields is sent, field by field. */
  bodyOf: (values: V) => B
  /** Reads it anew; null when it is gone. */
  read: (record: R) => Promise<R | null>
}

interface Kept<R, B> {
  change: (changes: Partial<B>, record: R) => Promise<void>
  /** Also what was deleted elsewhere comes here when it is kept; absent where it cannot be. */
  create?: (body: B) => Promise<void>
  /** Whether there is something to send beside the fields. */
  always?: boolean
}

/** The fields of something as they are written while others may change or delete it: only what was changed here is sent. */
export class Edits<R, V extends object, B extends { [K in keyof V]: unknown }> {
  values = $state() as V
  isGone = $state(false)
  failure = $state.raw<unknown>(null)
  busy = $state(false)
  /** As it was when it was last read. */
  record = $state.raw<R | null>(null)
  readonly #source: Source<R, V, B>
  #before = $state.raw() as B
  #clashes = $state.raw<(keyof V)[]>([])
  #reads = 0

  constructor(source: Source<R, V, B>) {
    this.#source = source
    this.record = source.record
    this.values = source.valuesOf(source.record)
    this.#before = source.bodyOf(source.valuesOf(source.record))
  }

  get body(): B {
    return this.#source.bodyOf(this.values)
  }

  get changes(): Partial<B> {
    return differing(this.#before, this.body)
  }

  /** Fields that were changed here and elsewhere, which nobody has decided yet. */
  get clashes(): (keyof V)[] {
    const { changes } = this
    return this.isGone ? [] : this.#clashes.filter((key) => key in changes)
  }

  /** What the fields would say without what was changed here. */
  get theirs(): V {
    return this.#source.valuesOf(this.record)
  }

  keep(key: keyof V): void {
    this.#clashes = this.#clashes.filter((other) => other !== key)
  }

  take(key: keyof V): void {
    this.values[key] = this.theirs[key]
    this.keep(key)
  }

  /** Looks what became of it elsewhere. Never rejects: what cannot be read now stays as it is. */
  async look(): Promise<void> {
    await this.#look().catch(() => undefined)
  }

  /** Sends what was changed; false where something is to be decided first, or with a `failure`. */
  async save(kept: Kept<R, B>): Promise<boolean> {
    if (this.busy) return false
    this.busy = true
    this.failure = null
    try {
      return await this.#save(kept)
    } catch (error) {
      if (hasStatus(error, 404)) await this.look()
      if (!this.isGone || !hasStatus(error, 404)) this.failure = error
      return false
    } finally {
      this.busy = false
    }
  }

  /** Goes on from a record as it was saved, with nothing changed. */
  adopt(record: R): void {
    const { valuesOf, bodyOf } = this.#source
    this.#reads++
    this.record = record
    this.#before = bodyOf(valuesOf(record))
    this.#clashes = []
    Object.assign(this.values, valuesOf(record))
  }

  async #save({ change, create, always = false }: Kept<R, B>): Promise<boolean> {
    if (this.record === null || this.isGone) {
      await create?.(this.body)
      return create !== undefined
    }
    if (this.clashes.length > 0) return false
    await this.#look()
    if (this.isGone || this.clashes.length > 0) return false
    const { changes } = this
    if (always || Object.keys(changes).length > 0) await change(changes, this.record)
    return true
  }

  async #look(): Promise<void> {
    if (this.record === null) return
    const mine = ++this.#reads
    const found = await this.#source.read(this.record)
    if (mine !== this.#reads) return
    this.isGone = found === null
    if (found === null) return
    const { valuesOf, bodyOf } = this.#source
    const [values, theirs] = [valuesOf(found), bodyOf(valuesOf(found))]
    const { taken, clashing } = meeting<{ [K in keyof V]: unknown }>(this.#before, this.body, theirs)
    this.record = found
    this.#before = theirs
    for (const key of taken) this.values[key] = values[key]
    this.#clashes = [...new Set([...this.#clashes, ...clashing])]
  }
}

/** What was read, or null where it is gone. */
export async function unlessGone<R>(reading: Promise<R>): Promise<R | null> {
  try {
    return await reading
  } catch (error) {
    if (hasStatus(error, 404)) return null
    throw error
  }
}
