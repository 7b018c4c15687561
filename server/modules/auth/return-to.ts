/** The path to go to after sign-in: one of this server's own, else `/`. */
export function localPath(returnTo: string | undefined): string {
  const inside = 'http://inside.invalid'
  if (!returnTo?.startsWith('/') || !URL.canParse(returnTo, inside)) return '/'
  const url = new URL(returnTo, inside)
  // Resolving `/..//elsewhere` leaves `//elsewhere`, which a browser takes for another host.
  return url.origin === inside && !/[\\\s]/.test(returnTo) && !url.pathname.startsWith('//') ? url.pathname + url.search : '/'
}
