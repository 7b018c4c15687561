/** Scheme the app is registered for. */
export const APP_SCHEME = 'hearth'

const LONGEST_LINK = 8_192

const PAGES: Readonly<Record<string, string>> = {
  open: '/',
  chat: '/chat',
  pair: '/paired-devices',
  settings: '/settings',
}

/**
 * The page a `hearth://` link asks for, or null where it is not one of ours. A link only ever chooses from a fixed list:
 * nothing in it becomes a path, a query or an argument.
 */
export function pageOfLink(link: string): string | null {
  if (link.length > LONGEST_LINK) return null
  const url = URL.parse(link)
  if (url?.protocol !== `${APP_SCHEME}:`) return null
  const name = url.hostname.toLowerCase()
  return Object.hasOwn(PAGES, name) ? (PAGES[name] ?? null) : null
}

/** The page asked for on a command line, whose other arguments are ignored. */
export function pageOfArguments(args: readonly string[]): string | null {
  const link = args.find((arg) => arg.toLowerCase().startsWith(`${APP_SCHEME}:`))
  return link === undefined ? null : pageOfLink(link)
}
