import { pageOfArguments, pageOfLink } from './deep-link.ts'

/** What of Electron's app is used to be the only one. */
export interface InstanceApp {
  requestSingleInstanceLock(): boolean
  quit(): void
  on(event: 'second-instance', listener: (event: unknown, args: string[]) => void): unknown
  on(event: 'open-url', listener: (event: { preventDefault(): void }, url: string) => void): unknown
}

/**
 * Makes this the only instance, or quits and returns false. A later start, or a link opened elsewhere, comes to `onOpen`
 * with the page it asks for (null: just show the window).
 */
export function beOnlyInstance(app: InstanceApp, onOpen: (page: string | null) => void): boolean {
  if (!app.requestSingleInstanceLock()) {
    app.quit()
    return false
  }
  app.on('second-instance', (_event, args) => onOpen(pageOfArguments(args)))
  app.on('open-url', (event, url) => {
    event.preventDefault()
    onOpen(pageOfLink(url))
  })
  return true
}
