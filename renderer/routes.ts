import type { Component } from 'svelte'
import type { RoutePattern } from './router.svelte.ts'

type Props = Record<string, unknown>
export type PageComponent = Component<Props>

export interface Route extends RoutePattern {
  /** `open` pages need nobody signed in. */
  access: 'open' | 'signed-in'
  /** `shell` has the navigation around it where somebody is signed in; `bare` never. */
  frame: 'shell' | 'bare'
  load: () => Promise<PageComponent>
  props: (params: Record<string, string>) => Props
}

interface RouteSpec<P extends Props> extends RoutePattern {
  access?: Route['access']
  frame?: Route['frame']
  page: () => Promise<{ default: Component<P> }>
  props: (params: Record<string, string>) => P
}

/** A route whose page is fetched when it is first opened. Erasing its props is safe: `props` and `page` agree here. */
function route<P extends Props>({ access = 'signed-in', frame = 'shell', page, ...rest }: RouteSpec<P>): Route {
  return { ...rest, access, frame, load: async () => (await page()).default as unknown as PageComponent }
}

const none = () => ({})

export const routes: Route[] = [
  route({ name: 'home', paths: ['/'], page: () => import('./features/home/HomePage.svelte'), props: none }),
  route({
    name: 'chat',
    paths: ['/chat', '/chat/{id}'],
    page: () => import('./features/chat/ChatPage.svelte'),
    props: ({ id }) => ({ conversationId: id ?? null }),
  }),
  route({ name: 'calendar', paths: ['/calendar'], page: () => import('./features/calendar/CalendarPage.svelte'), props: none }),
  route({ name: 'todos', paths: ['/todos'], page: () => import('./features/todos/TodosPage.svelte'), props: none }),
  route({ name: 'timers', paths: ['/timers'], page: () => import('./features/timers/TimersPage.svelte'), props: none }),
  route({
    name: 'notifications',
    paths: ['/notifications'],
    page: () => import('./features/notifications/NotificationsPage.svelte'),
    props: none,
  }),
  route({ name: 'household', paths: ['/household'], page: () => import('./features/household/HouseholdPage.svelte'), props: none }),
  route({
    name: 'paired-devices',
    paths: ['/paired-devices'],
    page: () => import('./features/paired-devices/PairedDevicesPage.svelte'),
    props: none,
  }),
  route({ name: 'memory', paths: ['/memory'], page: () => import('./features/memory/MemoryPage.svelte'), props: none }),
  route({ name: 'actions', paths: ['/actions'], page: () => import('./features/actions/ActionsPage.svelte'), props: none }),
  route({ name: 'models', paths: ['/models'], page: () => import('./features/models/ModelsPage.svelte'), props: none }),
  route({ name: 'settings', paths: ['/settings'], page: () => import('./features/settings/SettingsPage.svelte'), props: none }),
  route({
    name: 'docs',
    paths: ['/docs'],
    access: 'open',
    page: () => import('./features/docs/DocsPage.svelte'),
    props: none,
  }),
  route({ name: 'trust', paths: ['/trust'], access: 'open', page: () => import('./features/trust/TrustPage.svelte'), props: none }),
  route({
    name: 'setup',
    paths: ['/setup'],
    access: 'open',
    frame: 'bare',
    page: () => import('./features/setup/SetupPage.svelte'),
    props: none,
  }),
  route({
    name: 'login',
    paths: ['/login'],
    access: 'open',
    frame: 'bare',
    page: () => import('./features/sign-in/SignInPage.svelte'),
    props: none,
  }),
  route({
    name: 'pair',
    paths: ['/pair'],
    access: 'open',
    frame: 'bare',
    page: () => import('./features/pair/PairPage.svelte'),
    props: none,
  }),
]

/** Shown where no route fits. */
export const notFoundRoute: Route = route({
  name: 'not-found',
  paths: [],
  access: 'open',
  page: () => import('./features/not-found/NotFoundPage.svelte'),
  props: none,
})
