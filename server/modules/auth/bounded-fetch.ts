import type { CustomFetchOptions } from 'openid-client'

const MAX_BYTES = 1024 * 1024

/** `fetch` whose answer is read whole and refused beyond 1 MiB, for servers that are not ours. */
export async function boundedFetch(url: string, options: CustomFetchOptions): Promise<Response> {
  const response = await fetch(url, options as RequestInit)
  const chunks: Uint8Array<ArrayBuffer>[] = []
  let size = 0
  if (!response.body) return response
  for await (const chunk of response.body) {
    size += chunk.length
    if (size > MAX_BYTES) throw new Error('The answer is too large')
    chunks.push(chunk)
  }
  return new Response(chunks.length > 0 ? new Blob(chunks) : null, {
    status: response.status,
    statusText: response.statusText,
    headers: response.headers,
  })
}
