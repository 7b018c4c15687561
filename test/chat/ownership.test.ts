import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Ask, json, readLink } from '../support/credentials.ts'
import { type Browser, type House, startHouse } from '../support/house.ts'

type Scope = 'admin' | 'member' | 'guest'
interface Speaker {
  id: string
  fetch: Ask
}

let house: House
let owner: Browser
let adaId: string
beforeAll(async () => {
  house = await startHouse()
  owner = await house.owner()
  adaId = (await owner.api.household.get()).persons[0]?.id ?? ''
})
afterAll(() => house[Symbol.asyncDispose]())

/** A device that belongs to the owner's person rather than to the household. */
async function pairForAda(name: string, scope: Scope): Promise<Speaker> {
  const { qr } = await owner.api.pairing.start({ body: { scope, personId: adaId } })
  const { code, secret } = readLink(qr)
  const { device, accessToken } = await house
    .stranger()
    .api.pairing.complete({ body: { code, secret, deviceInfo: { name, type: 'phone' } } })
  return { id: device.id, fetch: house.bearer(accessToken).fetch }
}

const withKey = async (scope: Scope): Promise<Ask> =>
  house.bearer((await owner.api.keys.create({ body: { label: scope, scope } })).key).fetch

/** Says something and answers the conversation it was said in. */
async function say(ask: Ask, message: string, more: object = {}): Promise<string> {
  const answer = await ask('/api/chat', json({ message, ...more }))
  const text = await answer.text()
  expect(answer.status, text).toBe(200)
  return (JSON.parse(text.split('\n')[0] ?? '') as { conversationId: string }).conversationId
}

async function idsOf(ask: Ask, query = ''): Promise<string[]> {
  const answer = await ask(`/api/chat/conversations${query}`)
  expect(answer.status).toBe(200)
  return ((await answer.json()) as { id: string }[]).map(({ id }) => id)
}

const snapshot = async (ask: Ask, id: string) => (await ask(`/api/chat/conversations/${id}`)).text()

/** Every way to touch a conversation by its id. */
const touches = (id: string): [string, RequestInit][] => [
  [`/api/chat/conversations/${id}`, {}],
  [`/api/chat/conversations/${id}/export`, {}],
  [`/api/chat/conversations/${id}`, json({ title: 'Mine now' })],
  [`/api/chat/conversations/${id}/regenerate`, { method: 'POST' }],
  ['/api/chat', json({ message: 'Go on', conversationId: id })],
  [`/api/chat/conversations/${id}`, { method: 'DELETE' }],
]

async function expectOutOfReach(ask: Ask, id: string, word: string, about: string): Promise<void> {
  for (const [path, init] of touches(id)) {
    const answer = await ask(path, init)
    expect(answer.status, `${about}: ${init.method ?? 'GET'} ${path}`).toBe(404)
    expect(await answer.json(), about).toMatchObject({ code: 'not_found' })
  }
  expect(await idsOf(ask), about).not.toContain(id)
  expect(await idsOf(ask, `/search?q=${word}`), about).not.toContain(id)
}

test('what was said on a shared device exists for that device alone, not even for the owner', async () => {
  const [one, two, guest, admin] = await Promise.all([
    house.pair('One'),
    house.pair('Two'),
    house.pair('Guest', 'guest'),
    house.pair('Admin', 'admin'),
  ])
  const id = await say(one.fetch, 'The marmalade is hidden')
  const before = await snapshot(one.fetch, id)
  expect(await idsOf(one.fetch)).toEqual([id])
  expect(await idsOf(one.fetch, '/search?q=marmalade')).toEqual([id])
  const others: [string, Ask][] = [
    ['another shared device', two.fetch],
    ['a guest', guest.fetch],
    ['an admin device', admin.fetch],
    ['the owner', owner.fetch],
    ['an admin key', await withKey('admin')],
    ['a device of the owner', (await pairForAda('Ada’s phone', 'admin')).fetch],
  ]
  for (const [about, ask] of others) await expectOutOfReach(ask, id, 'marmalade', about)
  expect(await snapshot(one.fetch, id)).toBe(before)
})

test('a person’s conversations are the same on all their devices, in their browser and under their keys', async () => {
  const phone = await pairForAda('Ada’s other phone', 'member')
  const tablet = await pairForAda('Ada’s tablet', 'guest')
  const shared = await house.pair('Shared', 'admin')
  const id = await say(phone.fetch, 'Remember the elderberries')
  for (const ask of [phone.fetch, tablet.fetch, owner.fetch, await withKey('member'), await withKey('admin')]) {
    expect(await idsOf(ask)).toContain(id)
    expect(await idsOf(ask, '/search?q=elderberries')).toEqual([id])
    expect((await ask(`/api/chat/conversations/${id}`)).status).toBe(200)
  }
  expect(await say(tablet.fetch, 'And the cream', { conversationId: id })).toBe(id)
  await expectOutOfReach(shared.fetch, id, 'elderberries', 'a shared device')
  await expectOutOfReach(await withKey('guest'), id, 'elderberries', 'a guest’s key')
  const { messages } = JSON.parse(await snapshot(owner.fetch, id)) as { messages: { role: string; content: string }[] }
  expect(messages.filter(({ role }) => role === 'user').map(({ content }) => content)).toEqual([
    'Remember the elderberries',
    'And the cream',
  ])
})

test('only admins may name another device, and they list it by naming it', async () => {
  const one = await house.pair('Named', 'member')
  const id = await say(one.fetch, 'A word with the kettle')
  const member = await house.pair('Member', 'member')
  const guest = await house.pair('Guest', 'guest')
  for (const ask of [
    member.fetch,
    guest.fetch,
    await withKey('member'),
    await withKey('guest'),
    (await pairForAda('Ada’s watch', 'member')).fetch,
  ]) {
    for (const deviceId of [one.id, randomUUID()]) {
      expect((await ask(`/api/chat/conversations?deviceId=${deviceId}`)).status).toBe(403)
      expect((await ask('/api/chat', json({ message: 'Hello', deviceId }))).status).toBe(403)
    }
  }
  expect(await idsOf(one.fetch, `?deviceId=${one.id}`)).toEqual([id])
  const admin = await house.pair('Admin', 'admin')
  for (const ask of [owner.fetch, admin.fetch, await withKey('admin')]) {
    expect(await idsOf(ask, `?deviceId=${one.id}`)).toEqual([id])
    expect(await idsOf(ask)).not.toContain(id)
    expect((await ask(`/api/chat/conversations?deviceId=${randomUUID()}`)).status).toBe(404)
    expect((await ask('/api/chat', json({ message: 'Hello', deviceId: randomUUID() }))).status).toBe(404)
  }
  expect(await idsOf(one.fetch)).toEqual([id])
})

test('what an admin says in the name of a device belongs to that device', async () => {
  const tv = await house.pair('TV', 'guest', 'tv')
  const admin = await house.pair('Admin', 'admin')
  const id = await say(admin.fetch, 'Dinner is ready', { deviceId: tv.id })
  expect(await idsOf(tv.fetch)).toEqual([id])
  expect(await idsOf(admin.fetch)).not.toContain(id)
  expect((await admin.fetch(`/api/chat/conversations/${id}`)).status).toBe(404)
})

test('a device that changes hands does not take its talk along', async () => {
  const tablet = await house.pair('Tablet', 'admin', 'tablet')
  const refreshed = async () => {
    const answer = await house.bearer(tablet.refreshToken).fetch('/api/auth/refresh', { method: 'POST' })
    const pair = (await answer.json()) as { accessToken: string; refreshToken: string }
    tablet.refreshToken = pair.refreshToken
    return house.bearer(pair.accessToken).fetch
  }
  const id = await say(tablet.fetch, 'A shared secret')
  const adas = await say(owner.fetch, 'A secret of Ada')
  await owner.api.pairedDevices.update({ params: { id: tablet.id }, body: { personId: adaId } })
  const asAda = await refreshed()
  await expectOutOfReach(asAda, id, 'shared', 'now Ada’s')
  expect(await idsOf(asAda)).toContain(adas)
  await owner.api.pairedDevices.update({ params: { id: tablet.id }, body: { personId: null } })
  const shared = await refreshed()
  expect(await idsOf(shared)).toEqual([id])
  await expectOutOfReach(shared, adas, 'secret', 'shared again')
})

test('a device paired anew does not inherit what the revoked one said', async () => {
  const before = await house.pair('Same name')
  const id = await say(before.fetch, 'Before it was lost')
  await owner.api.pairedDevices.revoke({ params: { id: before.id } })
  const after = await house.pair('Same name')
  expect(await idsOf(after.fetch)).toEqual([])
  await expectOutOfReach(after.fetch, id, 'lost', 'paired anew')
  expect((await owner.fetch(`/api/chat/conversations?deviceId=${before.id}`)).status).toBe(404)
})
