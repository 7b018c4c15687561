import { createContext } from 'svelte'
import type { HearthClient } from './api.ts'
import type { Live } from './live.svelte.ts'
import type { Router } from './router.svelte.ts'
import type { Route } from './routes.ts'
import type { Session } from './session.svelte.ts'
import type { Kiosk } from './shell/kiosk.svelte.ts'
import type { Layout } from './shell/layout.svelte.ts'
import type { Palette } from './shell/palette.svelte.ts'
import type { Shortcuts } from './shell/shortcuts.svelte.ts'
import type { Theme } from './shell/theme.svelte.ts'
import type { Toasts } from './ui/toasts.svelte.ts'

/** What the window hands to its pages. Feature roots take what they need and make their own state of it. */
export interface Hearth {
  client: HearthClient
  router: Router<Route>
  session: Session
  live: Live
  layout: Layout
  kiosk: Kiosk
  theme: Theme
  toasts: Toasts
  shortcuts: Shortcuts
  palette: Palette
}

export const [useHearth, provideHearth] = createContext<Hearth>()
