import { texts } from './texts.ts'

/** The cookies that sign an owner in; no other cookie of an answer is taken over. */
const SESSION_COOKIES = new Set(['hearth_session', '__Host-hearth_session'])

const ANSWER_WITHIN_MS = 5_000

/** What of Electron's cookie store is used. */
export interface CookieStore {
  set(cookie: {
    url: string
    name: string
    value: string
    path: string
    httpOnly: boolean
    secure: boolean
    sameSite: 'lax'
  }): Promise<void>
}

export interface SignInDeps {
  ticket(): Promise<string>
  cookies: CookieStore
}

function sessionCookie(headers: Headers): { name: string; value: string } | null {
  for (const line of headers.getSetCookie()) {
    const [pair = ''] = line.split(';', 1)
    const at = pair.indexOf('=')
    const name = pair.slice(0, at).trim()
    if (SESSION_COOKIES.has(name)) return { name, value: pair.slice(at + 1).trim() }
  }
  return null
}

/** Signs the window in as the owner: trades a single-use ticket for the session cookie, which no page's script can read. Throws where that fails. */
export async function signIn(serverUrl: string, { ticket, cookies }: SignInDeps): Promise<void> {
  const answer = await fetch(new URL('/api/auth/desktop', serverUrl), {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ ticket: await ticket() }),
    redirect: 'error',
    signal: AbortSignal.timeout(ANSWER_WITHIN_MS),
  })
  const cookie = answer.ok ? sessionCookie(answer.headers) : null
  if (!cookie) throw new Error(texts.signInFailed)
  const secure = new URL(serverUrl).protocol === 'https:'
  // Without an expiry the cookie lives as long as the app: the next start brings a new ticket.
  await cookies.set({ url: serverUrl, ...cookie, path: '/', httpOnly: true, secure, sameSite: 'lax' })
}
