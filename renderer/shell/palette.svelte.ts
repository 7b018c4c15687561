import { type Component, untrack } from 'svelte'

export interface PaletteItem {
  id: string
  label: string
  /** Kind of thing, shown quietly at the end. */
  kind: string
  icon?: Component<{ 'aria-hidden'?: 'true' }>
  run: () => void
}

/** Gives what fits what was typed, best first; an empty query asks for what is worth showing unasked. */
export type PaletteSource = (query: string) => PaletteItem[]

/** Whether all words of `query` begin a word of `text`, case and accents aside. */
export function fitsQuery(text: string, query: string): boolean {
  const plain = (value: string) => value.normalize('NFD').replaceAll(/\p{M}/gu, '').toLowerCase()
  const words = plain(text).split(/[\s\p{P}]+/u)
  return plain(query)
    .split(/\s+/)
    .every((part) => words.some((word) => word.startsWith(part)))
}

/** The command palette: areas add sources, the shell shows what they find. */
export class Palette {
  open = $state(false)
  #sources = $state.raw<PaletteSource[]>([])

  /** Returns what takes the source away again. */
  add(source: PaletteSource): () => void {
    this.#sources = untrack(() => [...this.#sources, source])
    return () => {
      this.#sources = untrack(() => this.#sources.filter((other) => other !== source))
    }
  }

  find(query: string): PaletteItem[] {
    return this.#sources.flatMap((source) => source(query.trim()))
  }
}
