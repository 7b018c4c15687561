import { expect } from 'vitest'
import type { House } from './house.ts'

/** What must never be read in a failure: stacks, source files, SQL and paths of the machine. */
const LEAKS = [/\n\s+at /, /node_modules/, /\.ts:\d/, /node:internal/, /SQLITE|SELECT |INSERT /, /\/(?:tmp|home|root|usr|var|etc)\//]

/** Checks what every answer of the API has in common, and of a failure its exact shape; resolves to the body's text. */
export async function checkAnswer(response: Response, about: string): Promise<string> {
  const text = await response.text()
  const { headers, status } = response
  const requestId = headers.get('x-request-id')
  expect(status, `${about}: ${text.slice(0, 300)}`).toBeLessThan(500)
  expect(requestId, `${about} has a request id`).toMatch(/^[\w-]{3,}$/)
  expect(headers.get('x-content-type-options'), about).toBe('nosniff')
  expect(headers.get('cache-control'), about).toBe('no-store')
  if (status < 400) return text
  for (const leak of LEAKS) expect(text, about).not.toMatch(leak)
  expect(text, about).not.toContain(process.cwd())
  expect(headers.get('content-type'), about).toBe('application/json; charset=utf-8')
  const body = JSON.parse(text) as Record<string, unknown>
  if (status === 401 && body.code !== 'wrong_pin') {
    expect(body, about).toEqual({ error: 'Unauthorized' })
    return text
  }
  const { error, code, details, ...rest } = body
  expect(rest, about).toEqual({ requestId })
  expect(error, about).toEqual(expect.stringMatching(/\S/))
  expect(code, about).toEqual(expect.stringMatching(/^[a-z][a-z0-9_]+$/))
  if (details !== undefined) {
    expect(details, about).toEqual(expect.arrayContaining([{ path: expect.any(String), message: expect.any(String) }]))
  }
  return text
}

/** The `code` of a failure. */
export const codeOf = async (response: Response): Promise<unknown> => ((await response.json()) as { code?: unknown }).code

/** Fails unless the server goes on answering strangers. */
export async function expectAlive(house: House, about: string): Promise<void> {
  const startedAt = performance.now()
  expect((await house.stranger().fetch('/api/status')).status, about).toBe(200)
  expect(performance.now() - startedAt, about).toBeLessThan(10_000)
}
