import { api } from '../server/api.ts'
import { ApiError, type Client, createClient, type Send } from '../server/kit/client.ts'

export type HearthClient = Client<typeof api>

interface ApiHooks {
  /** An answer arrived (true) or none did (false). */
  heard(reached: boolean): void
  /** The server refused the credential of this browser. */
  refused(): void
}

/**
 * The client of the pages: cookies go along, every request carries the header that proves it came from a page of this
 * server, and no answer at all becomes an ApiError of status 0.
 */
export function createApi({ heard, refused }: ApiHooks): HearthClient {
  const send: Send = async (path, init) => {
    const headers = new Headers(init.headers)
    headers.set('X-Hearth-Request', '1')
    let response: Response
    try {
      response = await fetch(path, { ...init, headers, credentials: 'same-origin' })
    } catch (error) {
      if (init.signal?.aborted) throw error
      heard(false)
      throw new ApiError(0, {})
    }
    heard(true)
    if (response.status === 401) refused()
    return response
  }
  return createClient(api, send)
}
