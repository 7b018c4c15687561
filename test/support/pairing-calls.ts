import { json, type Link, readLink } from './credentials.ts'
import type { Browser, House } from './house.ts'

export const deviceInfo = { name: 'Phone', type: 'phone' }

type Proof = Pick<Link, 'code' | 'secret'>

/** A link as the owner gets it, and what it carries. */
export async function start(
  owner: Browser,
  body: Parameters<Browser['api']['pairing']['start']>[0]['body'] = {},
): Promise<Link & { id: string; qr: string; webQr: string }> {
  const { qr, webQr, pairing } = await owner.api.pairing.start({ body })
  return { ...readLink(qr), id: pairing.id, qr, webQr }
}

export const complete = (house: House, { code, secret }: Proof, info: object = deviceInfo): Promise<Response> =>
  house.stranger().fetch('/api/auth/pair/complete', json({ code, secret, deviceInfo: info }))

export const inBrowser = (house: House, { code, secret }: Proof): Promise<Response> =>
  house.stranger().fetch('/api/auth/pair/browser', json({ code, secret, deviceInfo }))

/** What a TV knows while it waits to be let in. */
export interface Waiting {
  id: string
  userCode: string
  pollSecret: string
}

export const askIn = async (house: House): Promise<Waiting> =>
  (await house.stranger().fetch('/api/auth/pair/request', json({ deviceInfo: { name: 'TV', type: 'tv' } }))).json() as Promise<Waiting>

export const poll = (house: House, { id, pollSecret }: Pick<Waiting, 'id' | 'pollSecret'>): Promise<Response> =>
  house.stranger().fetch(`/api/auth/pair/request/${id}`, json({ pollSecret }))

/** All that a caller can see of an answer, but for what is never twice the same. */
export const seen = async (answer: Response) => ({
  status: answer.status,
  body: await answer.text(),
  headers: [...answer.headers].filter(([name]) => name !== 'x-request-id' && name !== 'date'),
})
