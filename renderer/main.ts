import { mount } from 'svelte'
import { z } from 'zod'
import '@fontsource-variable/figtree/wght.css'
import './ui/tokens.css'
import './ui/base.css'
import App from './App.svelte'
import { createApi } from './api.ts'
import { Live } from './live.svelte.ts'
import { Router } from './router.svelte.ts'
import { notFoundRoute, routes } from './routes.ts'
import { Session } from './session.svelte.ts'
import { keepWindow } from './shell/keep-window.ts'
import { Kiosk } from './shell/kiosk.svelte.ts'
import { Layout } from './shell/layout.svelte.ts'
import { Palette } from './shell/palette.svelte.ts'
import { Shortcuts } from './shell/shortcuts.svelte.ts'
import { Theme } from './shell/theme.svelte.ts'
import { Toasts } from './ui/toasts.svelte.ts'

// zod would try to compile its checks with `new Function`, which the content security policy forbids and reports.
z.config({ jitless: true })

const theme = new Theme()
const router = new Router(routes, notFoundRoute)
const client = createApi({
  heard: (reached) => live.heard(reached),
  refused: () => {
    if (router.place.route.access === 'signed-in' && session.right !== null) void session.load()
  },
})
const session = new Session(client)
const live = new Live({
  mayReconnect: async () => {
    await session.load()
    return session.right !== null
  },
})

router.start()
void session.load().then(() => {
  if (session.status === 'ready') void keepWindow()
})

const target = document.getElementById('app')
if (!target) throw new Error('The page has no element #app.')
mount(App, {
  target,
  props: {
    hearth: {
      client,
      router,
      session,
      live,
      layout: new Layout(session),
      kiosk: new Kiosk(),
      theme,
      toasts: new Toasts(),
      shortcuts: new Shortcuts(),
      palette: new Palette(),
    },
  },
})
