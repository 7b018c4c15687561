/** What the build writes at the head of this file: the files of this window and a name for just these. */
interface Shell {
  version: string
  files: string[]
}

interface Pushed {
  id: string
  title: string
  body: string
  level: 'info' | 'warning' | 'critical'
  actions: string[]
  data?: Record<string, string>
}

/** The few things of a service worker that are used here; the types of windows and workers do not go together in one program. */
interface LateEvent extends Event {
  waitUntil(work: Promise<unknown>): void
}
interface Fetching extends LateEvent {
  request: Request
  respondWith(answer: Promise<Response>): void
}
interface Pushing extends LateEvent {
  data: { json(): unknown } | null
}
interface Clicking extends LateEvent {
  action: string
  notification: Notification
}
interface Tab {
  url: string
  focus(): Promise<Tab>
  navigate(url: string): Promise<Tab | null>
}
interface Worker {
  hearthShell: Shell
  location: Location
  registration: ServiceWorkerRegistration
  clients: { claim(): Promise<void>; matchAll(filter: { type: 'window' }): Promise<Tab[]>; openWindow(url: string): Promise<Tab | null> }
  skipWaiting(): Promise<void>
  addEventListener<E extends LateEvent>(type: string, listener: (event: E) => void): void
}

const worker = globalThis as unknown as Worker
const { version, files } = worker.hearthShell
const PREFIX = 'hearth-window-'
const SHELL = '/'
/** A server that takes longer to begin its answer is taken for gone, where the window is at hand. */
const NAVIGATION_MS = 6_000

async function install(): Promise<void> {
  const cache = await caches.open(PREFIX + version)
  await cache.addAll([SHELL, ...files].map((path) => new Request(path, { cache: 'reload' })))
  await worker.skipWaiting()
}

/** Windows that are open since before still fetch the parts of theirs: the version before this one is kept as well. */
async function activate(): Promise<void> {
  const older = (await caches.keys()).filter((name) => name.startsWith(PREFIX) && name !== PREFIX + version)
  await Promise.all(older.slice(0, -1).map((name) => caches.delete(name)))
  await worker.clients.claim()
}

const cached = async (path: string): Promise<Response | undefined> =>
  (await (await caches.open(PREFIX + version)).match(path)) ?? caches.match(path)

/** The page as the server has it now; the kept window where the server cannot be reached. */
async function page(request: Request): Promise<Response> {
  const answer = fetch(request)
  const late = new Promise<undefined>((resolve) => setTimeout(resolve, NAVIGATION_MS))
  const inTime = await Promise.race([answer, late]).catch(() => undefined) // told by `answer` where nothing is kept
  return inTime ?? (await cached(SHELL)) ?? answer
}

/** Parts of the window never change under their name; what else there is is asked for first. */
async function file(request: Request, path: string): Promise<Response> {
  if (path.startsWith('/assets/')) return (await cached(path)) ?? fetch(request)
  try {
    return await fetch(request)
  } catch (error) {
    const kept = await cached(path)
    if (kept) return kept
    throw error
  }
}

function answer(event: Fetching): void {
  const { request } = event
  const { origin, pathname } = new URL(request.url)
  if (request.method !== 'GET' || origin !== worker.location.origin || pathname.startsWith('/api/') || pathname.startsWith('/v1/')) return
  if (request.mode === 'navigate') event.respondWith(page(request))
  else if (files.includes(pathname) || pathname.startsWith('/assets/')) event.respondWith(file(request, pathname))
}

async function post(path: string, body: unknown): Promise<void> {
  const headers = { 'content-type': 'application/json', 'x-hearth-request': '1' }
  const { ok, status } = await fetch(path, { method: 'POST', credentials: 'same-origin', headers, body: JSON.stringify(body) })
  // A notification or to-do that is gone by now is nothing to come back to.
  if (!ok && status !== 404) throw new Error(`The server answered ${status}.`)
}

const labels: Record<string, string> = { 'Mark Done': 'Mark done', 'Snooze 15min': 'Snooze 15 min', 'View Files': 'View files' }

function show(pushed: Pushed): Promise<void> {
  const options = {
    body: pushed.body,
    tag: pushed.id,
    icon: '/icon-192.png',
    requireInteraction: pushed.level === 'critical',
    data: pushed,
    actions: pushed.actions.map((action) => ({ action, title: labels[action] ?? action })),
  }
  return worker.registration.showNotification(pushed.title, options)
}

/** Shows it whatever happens, as a push that shows nothing costs the right to them. One that is not acknowledged comes again. */
async function received({ data }: Pushing): Promise<void> {
  const pushed = data?.json() as Pushed
  await show(pushed)
  await post(`/api/notifications/${pushed.id}/ack`, { status: 'delivered' }).catch(() => undefined)
}

function placeOf({ data = {} }: Pushed): string {
  if (data.todoId) return '/todos'
  if (data.timerId) return '/timers'
  return data.eventId ? '/calendar' : '/notifications'
}

async function open(path: string): Promise<void> {
  const [tab] = await worker.clients.matchAll({ type: 'window' })
  if (!tab) return void (await worker.clients.openWindow(path))
  await tab.focus()
  if (new URL(tab.url).pathname !== path) await tab.navigate(path)
}

/** A press on it opens what it is about; a button does its act, and brings the notification back where that fails. */
async function clicked({ action, notification }: Clicking): Promise<void> {
  const pushed = notification.data as Pushed
  notification.close()
  const isOpening = action === '' || action.startsWith('View')
  const said = action === '' ? { path: 'ack', body: { status: 'read' } } : { path: 'action', body: { action } }
  const saying = post(`/api/notifications/${pushed.id}/${said.path}`, said.body)
  // What is opened shows it as unread where that could not be said.
  if (isOpening) await Promise.all([open(placeOf(pushed)), saying.catch(() => undefined)])
  else await saying.catch(() => show(pushed))
}

worker.addEventListener<LateEvent>('install', (event) => event.waitUntil(install()))
worker.addEventListener<LateEvent>('activate', (event) => event.waitUntil(activate()))
worker.addEventListener<Fetching>('fetch', answer)
worker.addEventListener<Pushing>('push', (event) => event.waitUntil(received(event)))
worker.addEventListener<Clicking>('notificationclick', (event) => event.waitUntil(clicked(event)))
