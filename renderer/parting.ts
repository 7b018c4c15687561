import { type Client, createClient } from '../server/kit/client.ts'
import type { Contract } from '../server/kit/endpoint.ts'

/** Calls that the browser carries out even if the page that makes them goes away meanwhile. */
export const createPartingClient = <C extends Record<string, Contract>>(contracts: C): Client<C> =>
  createClient(contracts, (path, init) => {
    const headers = new Headers(init.headers)
    headers.set('X-Hearth-Request', '1')
    return fetch(path, { ...init, headers, credentials: 'same-origin', keepalive: true })
  })
