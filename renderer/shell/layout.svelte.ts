import type { Session } from '../session.svelte.ts'

const NAME = 'hearth.layout'

/** Whether this window is laid out for a TV: the device is one, or the address says `?tv`, which the tab then remembers. */
export class Layout {
  readonly tv: boolean = $derived.by(() => this.#asked || this.#session.device?.type === 'tv')
  #asked = $state(sessionStorage.getItem(NAME) === 'tv')
  readonly #session: Session

  constructor(session: Session) {
    this.#session = session
  }

  /** Reads the query of an address; `?tv=off` goes back. */
  read(query: URLSearchParams): void {
    if (!query.has('tv')) return
    this.ask(query.get('tv') !== 'off')
  }

  ask(tv: boolean): void {
    this.#asked = tv
    sessionStorage.setItem(NAME, tv ? 'tv' : 'normal')
  }
}
