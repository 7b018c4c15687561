/** How one may sign in, as the served page says. `elsewhere` is where the provider works, empty where that is not said. */
export interface WaysIn {
  password: boolean
  provider: boolean
  elsewhere: string | null
}

/** Reads `<meta name="hearth-sign-in" content="password provider">`. */
export function readWaysIn(meta: HTMLMetaElement | null): WaysIn {
  const words = (meta?.content ?? '').split(/\s+/)
  const provider = words.includes('provider')
  const elsewhere = words.includes('provider-elsewhere') ? (meta?.dataset.at ?? '') : null
  return { password: words.includes('password') || !provider, provider, elsewhere }
}
