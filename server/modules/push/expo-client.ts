import type { Expo, ExpoClientOptions } from 'expo-server-sdk'
import type { Dispatcher } from 'undici'
import type { Rests } from './rests.ts'

export interface ExpoClientDeps {
  accessToken: string
  /** In place of Expo’s own address. */
  baseUrl: string | undefined
  rests: Rests
}

/** Under what name the gateway asks to be left alone. */
export const EXPO_REST = 'expo'
const CONNECT_MS = 10_000
const MAX_ANSWER_BYTES = 1024 * 1024

/** Hears what the library keeps to itself: how long the gateway asks to wait. */
const listening = (handler: Dispatcher.DispatchHandler, rests: Rests): Dispatcher.DispatchHandler => ({
  onRequestStart: (controller, context) => handler.onRequestStart?.(controller, context),
  onResponseStart(controller, status, headers, text) {
    rests.heard(EXPO_REST, status, headers['retry-after']?.toString())
    handler.onResponseStart?.(controller, status, headers, text)
  },
  onResponseData: (controller, chunk) => handler.onResponseData?.(controller, chunk),
  onResponseEnd: (controller, trailers) => handler.onResponseEnd?.(controller, trailers),
  onResponseError: (controller, error) => handler.onResponseError?.(controller, error),
})

/** The library reads its address from the environment of the process, once; this sends each request where it belongs. */
const aimedAt = (base: URL) => ({
  origin: base.origin,
  path: (path: string) => base.pathname.replace(/\/$/, '') + path.slice(path.indexOf('/--/')),
})

/** Makes a client of Expo that ends with its signal: the library itself knows neither time limits nor `Retry-After`. */
export function createExpoClient({ accessToken, baseUrl, rests }: ExpoClientDeps) {
  const aim = baseUrl === undefined ? null : aimedAt(new URL(baseUrl))

  return async <T>(signal: AbortSignal, work: (expo: Expo) => Promise<T>): Promise<T> => {
    const [{ Expo }, { Agent, Dispatcher1Wrapper }] = await Promise.all([import('expo-server-sdk'), import('undici')])
    signal.throwIfAborted()
    const agent = new Agent({ connect: { timeout: CONNECT_MS }, maxResponseSize: MAX_ANSWER_BYTES })
    const dispatcher = agent.compose((dispatch) => (options, handler) => {
      if (rests.isResting(EXPO_REST)) throw new Error('Expo asked to wait')
      return dispatch({ ...options, ...(aim && { origin: aim.origin, path: aim.path(options.path) }) }, listening(handler, rests))
    })
    const end = () => void agent.destroy().catch(() => undefined) // what was on its way fails by itself
    signal.addEventListener('abort', end, { once: true })
    try {
      // The library has an undici of its own, an older one; the wrapper speaks its language, the types do not say so.
      const httpAgent = new Dispatcher1Wrapper(dispatcher) as unknown as ExpoClientOptions['httpAgent']
      return await work(new Expo({ accessToken, httpAgent }))
    } finally {
      signal.removeEventListener('abort', end)
      end()
    }
  }
}
