/** Scheme of the shell's own few pages, which no other page may reach. */
export const LOCAL_SCHEME = 'hearth-shell'

/** What the window itself may be asked for by its page; everything else is refused. */
const GRANTED = new Set(['clipboard-sanitized-write'])

/** Whether the window may go to an address by itself: only to the server's own origin. */
export function mayNavigate(target: string, origin: string | null): boolean {
  const url = URL.parse(target)
  return url !== null && /^https?:$/.test(url.protocol) && url.origin === origin && url.username === '' && url.password === ''
}

/** Whether anything in the window may load an address: the server's, over HTTP or socket, and what a page made itself. */
export function mayRequest(target: string, origin: string | null): boolean {
  const url = URL.parse(target)
  if (!url) return false
  if (url.protocol === 'data:' || url.protocol === `${LOCAL_SCHEME}:`) return true
  if (url.protocol === 'blob:') return url.origin === origin
  return /^(https?|wss?):$/.test(url.protocol) && url.origin.replace(/^ws/, 'http') === origin
}

/** Whether an address may be handed to the system's browser or mail program. */
export function mayOpenOutside(target: string): boolean {
  const protocol = URL.parse(target)?.protocol
  return protocol === 'https:' || protocol === 'mailto:'
}

/** Whether a page may use a browser permission. */
export const mayUse = (permission: string, requester: string, origin: string | null): boolean =>
  GRANTED.has(permission) && mayNavigate(requester, origin)

/** Whether a message comes from one of the shell's own pages. */
export const isLocalPage = (address: string): boolean => URL.parse(address)?.protocol === `${LOCAL_SCHEME}:`
