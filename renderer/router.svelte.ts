import { tick } from 'svelte'
import { matchPath } from './paths.ts'
import { createScrollMemory } from './scroll-memory.ts'

export interface RoutePattern {
  name: string
  /** Paths that lead here, `{id}` standing for one segment. */
  paths: string[]
}

export interface Place<R extends RoutePattern> {
  route: R
  path: string
  params: Record<string, string>
  query: URLSearchParams
}

/**
 * History navigation: `place` is where one is. Links inside the page are taken over; scroll is kept per history entry;
 * after a move the focus goes to the page's title and `title` is announced.
 */
export class Router<R extends RoutePattern> {
  place = $state.raw<Place<R>>() as Place<R>
  title = $state('')
  /** Counts moves to another page, so that the announcer speaks even where the title is the same. */
  moves = $state(0)
  readonly #routes: R[]
  readonly #fallback: R
  readonly #scroll = createScrollMemory()

  constructor(routes: R[], fallback: R) {
    this.#routes = routes
    this.#fallback = fallback
    this.place = this.#find(window.location)
  }

  /** Listens to links and the back button; returns what ends it. */
  start(): () => void {
    const ended = new AbortController()
    const { signal } = ended
    this.#scroll.start(signal)
    window.addEventListener('popstate', () => void this.#arrive(), { signal })
    window.addEventListener('pagehide', () => this.#scroll.keep(), { signal })
    document.addEventListener('click', (event) => this.#follow(event), { signal })
    this.#scroll.restore()
    return () => ended.abort()
  }

  /** Goes to a path with query of this server. `replace` leaves no step to come back to. */
  go(to: string, { replace = false }: { replace?: boolean } = {}): void {
    this.#scroll.keep()
    const state = { key: this.#scroll.newKey() }
    if (replace) history.replaceState(state, '', to)
    else history.pushState(state, '', to)
    void this.#arrive()
  }

  /** Changes the query in place, for filters; null removes a name. No move, no announcement. */
  setQuery(changes: Record<string, string | null>): void {
    const query = new URLSearchParams(this.place.query)
    for (const [name, value] of Object.entries(changes)) value ? query.set(name, value) : query.delete(name)
    const search = query.size > 0 ? `?${query}` : ''
    history.replaceState(history.state, '', this.place.path + search)
    this.place = { ...this.place, query }
  }

  /** Takes the fragment out of the address and hands it over, for secrets that links carry. */
  takeFragment(): URLSearchParams {
    const fragment = new URLSearchParams(window.location.hash.slice(1))
    if (window.location.hash) history.replaceState(history.state, '', window.location.pathname + window.location.search)
    return fragment
  }

  setTitle(title: string): void {
    this.title = title
    document.title = title === 'Hearth' ? title : `${title} – Hearth`
  }

  #find({ pathname, search }: Location): Place<R> {
    const query = new URLSearchParams(search)
    for (const route of this.#routes) {
      for (const pattern of route.paths) {
        const params = matchPath(pattern, pathname)
        if (params) return { route, path: pathname, params, query }
      }
    }
    return { route: this.#fallback, path: pathname, params: {}, query }
  }

  async #arrive(): Promise<void> {
    const from = this.place.route
    this.place = this.#find(window.location)
    if (this.place.route === from) return
    this.moves++
    await tick()
    this.#scroll.restore()
  }

  #follow(event: MouseEvent): void {
    if (event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return
    const link = event.target instanceof Element ? event.target.closest('a') : null
    if (!link || link.target || link.hasAttribute('download') || link.origin !== window.location.origin) return
    if (link.pathname.startsWith('/api/')) return
    if (link.hash && link.pathname === window.location.pathname) return
    event.preventDefault()
    const to = link.pathname + link.search + link.hash
    if (to !== window.location.pathname + window.location.search) this.go(to)
  }
}
