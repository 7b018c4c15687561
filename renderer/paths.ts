/** The parameters of `path` under `pattern`, or null where it does not fit. */
export function matchPath(pattern: string, path: string): Record<string, string> | null {
  const wanted = pattern.split('/')
  const given = path.replace(/(.)\/$/, '$1').split('/')
  if (wanted.length !== given.length) return null
  const params: Record<string, string> = {}
  for (const [index, part] of wanted.entries()) {
    const value = given[index] ?? ''
    if (!part.startsWith('{')) {
      if (part !== value) return null
      continue
    }
    try {
      params[part.slice(1, -1)] = decodeURIComponent(value)
    } catch {
      return null
    }
  }
  return params
}

/** Only a path of this server, never another origin: what `returnTo` may hold. */
export function localPath(path: string | null, fallback = '/'): string {
  return path && /^\/(?![/\\])[^\\\p{Cc}]*$/u.test(path) ? path : fallback
}
