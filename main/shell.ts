import { STATUS_PAGE } from './local-pages.ts'
import type { ServerState } from './supervisor.ts'

/** The window, as far as the shell steers it. */
export interface View {
  /** Where it is, or '' before its first page. */
  address(): string
  load(address: string): void
  /** Brings it to the front. */
  show(): void
}

export interface ShellDeps {
  view: View
  /** Puts the owner's cookie into the window. */
  signIn(serverUrl: string): Promise<void>
  /** Told of a sign-in that failed; the window then shows the ordinary sign-in page. */
  onSignInFailed(error: unknown): void
}

export interface Shell {
  /** The server's origin while one runs. */
  origin(): string | null
  onState(state: ServerState): void
  /** Shows the window, at a page where one is asked for. */
  open(page: string | null): void
}

type Ready = Extract<ServerState, { kind: 'ready' }>

/** Decides what the window shows as the server comes and goes. */
export function createShell({ view, signIn, onSignInFailed }: ShellDeps): Shell {
  let state: ServerState = { kind: 'stopped' }
  let signedInAt: string | null = null
  let wantedPage: string | null = null

  const origin = (): string | null => (state.kind === 'ready' ? new URL(state.url).origin : null)
  const isAt = (place: string): boolean => URL.parse(view.address())?.origin === place

  async function enter(ready: Ready): Promise<void> {
    if (ready.setupPin !== null) return view.load(new URL(`/setup#pin=${encodeURIComponent(ready.setupPin)}`, ready.url).href)
    await signIn(ready.url).catch(onSignInFailed)
    if (state !== ready) return // it went away meanwhile: what it became is shown
    signedInAt = origin()
    view.load(new URL(wantedPage ?? '/', ready.url).href)
    wantedPage = null
  }

  function onReady(ready: Ready, before: ServerState): void {
    const own = new URL(ready.url).origin
    const setUpInWindow = before.kind === 'ready' && ready.setupPin === null
    // A page that is there already finds its server again by itself; set-up leads on by itself.
    if (setUpInWindow || (signedInAt === own && isAt(own))) return
    void enter(ready)
  }

  return {
    origin,
    onState(next) {
      const before = state
      const place = origin()
      state = next
      if (next.kind === 'ready') onReady(next, before)
      else if (next.kind !== 'restarting' || place === null || !isAt(place)) view.load(STATUS_PAGE)
    },
    open(page) {
      view.show()
      if (page === null) return
      if (state.kind === 'ready' && state.setupPin === null) view.load(new URL(page, state.url).href)
      else wantedPage = page
    },
  }
}
