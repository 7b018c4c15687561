import { mayNavigate, mayOpenOutside, mayRequest, mayUse } from './guards.ts'
import { texts } from './texts.ts'

interface Preventable {
  preventDefault(): void
}

/** What of Electron's WebContents is guarded. */
export interface GuardedContents {
  on(event: 'will-navigate' | 'will-redirect', listener: (event: Preventable, url: string) => void): unknown
  on(event: 'will-attach-webview', listener: (event: Preventable) => void): unknown
  setWindowOpenHandler(handler: (details: { url: string }) => { action: 'deny' }): void
}

/** What of Electron's Session is guarded. */
export interface GuardedSession {
  setPermissionRequestHandler(
    handler: (contents: unknown, permission: string, answer: (granted: boolean) => void, details: { requestingUrl: string }) => void,
  ): void
  setPermissionCheckHandler(handler: (contents: unknown, permission: string, requestingOrigin: string) => boolean): void
  webRequest: { onBeforeRequest(listener: (details: { url: string }, answer: (response: { cancel: boolean }) => void) => void): void }
}

export interface GuardDeps {
  /** The server's origin of the moment, null while none runs. */
  origin(): string | null
  openOutside(url: string): void
}

/** Keeps a page where it belongs: no foreign addresses, no second windows, no embedded browsers. */
export function guardContents(contents: GuardedContents, { origin, openOutside }: GuardDeps): void {
  const stay = (event: Preventable, url: string): void => {
    if (!mayNavigate(url, origin())) event.preventDefault()
  }
  contents.on('will-navigate', stay)
  contents.on('will-redirect', stay)
  contents.on('will-attach-webview', (event) => event.preventDefault())
  contents.setWindowOpenHandler(({ url }) => {
    if (mayOpenOutside(url)) openOutside(url)
    return { action: 'deny' }
  })
}

/** Binds a session to the server's origin and refuses every permission that is not named. */
export function guardSession(session: GuardedSession, { origin }: Pick<GuardDeps, 'origin'>): void {
  session.setPermissionRequestHandler((_contents, permission, answer, { requestingUrl }) =>
    answer(mayUse(permission, requestingUrl, origin())),
  )
  session.setPermissionCheckHandler((_contents, permission, requester) => mayUse(permission, requester, origin()))
  session.webRequest.onBeforeRequest(({ url }, answer) => answer({ cancel: !mayRequest(url, origin()) }))
}

/** The windows' own storage: it keeps drafts and theme, while the sign-in cookie in it ends with the app. */
export const PARTITION = 'persist:hearth'

/** How every window is made. */
export const windowOptions = ({ preload, icon }: { preload: string; icon: string }) =>
  ({
    width: 1180,
    height: 820,
    minWidth: 360,
    minHeight: 480,
    show: false,
    title: texts.name,
    icon,
    autoHideMenuBar: true,
    backgroundColor: '#2b2621',
    webPreferences: {
      preload,
      partition: PARTITION,
      contextIsolation: true,
      sandbox: true,
      nodeIntegration: false,
      nodeIntegrationInWorker: false,
      nodeIntegrationInSubFrames: false,
      webSecurity: true,
      webviewTag: false,
    },
  }) as const
