import { X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { request as httpsRequest } from 'node:https'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { type House, startHouse } from '../support/house.ts'

let house: House
let root: string

beforeAll(async () => {
  house = await startHouse()
})
afterAll(() => house[Symbol.asyncDispose]())

const port = () => Number(new URL(house.url).port)
const rootFile = () => new X509Certificate(readFileSync(join(house.dataPath, 'config', 'tls', 'ca.crt'))).toString()

function ask(path: string, servername = 'hearth.local', ca = root): Promise<{ status: number; hsts: string | undefined; body: string }> {
  return new Promise((resolve, reject) => {
    const outgoing = httpsRequest({ host: '127.0.0.1', port: port(), path, servername, ca, agent: false })
    outgoing.once('error', reject)
    outgoing.once('response', async (incoming) => {
      const body = (await incoming.setEncoding('utf8').toArray()).join('')
      resolve({ status: incoming.statusCode ?? 0, hsts: incoming.headers['strict-transport-security'], body })
    })
    outgoing.end()
  })
}

test('only the owner switches it', async () => {
  const phone = await house.pair('Phone', 'admin')
  for (const person of [house.stranger(), phone]) {
    const wanted = person === phone ? 403 : 401
    await expect(person.api.trust.enable()).rejects.toMatchObject({ status: wanted })
    await expect(person.api.trust.disable()).rejects.toMatchObject({ status: wanted })
  }
  expect(await house.stranger().api.trust.get()).toMatchObject({ enabled: false, fixed: false })
  expect((await house.stranger().fetch('/trust/hearth-ca.crt')).status).toBe(404)
})

test('switched on, the same port answers TLS without a restart, sockets included, and plain HTTP as before', async () => {
  const owner = await house.residentOwner()
  const trust = await owner.api.trust.enable()
  root = rootFile()
  expect(trust).toMatchObject({ enabled: true, fingerprint: new X509Certificate(root).fingerprint256 })
  expect(await owner.api.trust.enable()).toEqual(trust)
  expect(await ask('/api/status')).toMatchObject({ status: 200, hsts: undefined })
  expect((await ask('/')).hsts).toBeUndefined()
  await expect(ask('/api/status', 'bank.example')).rejects.toMatchObject({ code: 'ERR_TLS_CERT_ALTNAME_INVALID' })
  expect((await house.stranger().fetch('/api/status')).status).toBe(200)
  const phone = await house.pair('Socket phone')
  const socket = new WebSocket(`wss://127.0.0.1:${port()}/ws`, { ca: root, headers: { authorization: `Bearer ${phone.accessToken}` } })
  await new Promise<void>((resolve, reject) => socket.once('open', () => resolve()).once('error', reject))
  socket.terminate()
})

test('anybody may fetch the authority’s certificate, as DER and as a profile, and a page on plain HTTP may try it over TLS', async () => {
  const file = await house.stranger().fetch('/trust/hearth-ca.crt')
  expect(file.headers.get('content-type')).toBe('application/x-x509-ca-cert')
  expect(file.headers.get('access-control-allow-origin')).toBe('*')
  const der = Buffer.from(await file.arrayBuffer())
  expect(new X509Certificate(der).toString()).toBe(root)
  const profile = await house.stranger().fetch('/trust/hearth.mobileconfig')
  expect(profile.headers.get('content-type')).toBe('application/x-apple-aspen-config')
  const text = await profile.text()
  expect(Buffer.from(/<data>([^<]+)<\/data>/.exec(text)?.[1] ?? '', 'base64').equals(der)).toBe(true)
  expect(text).toBe(await (await house.stranger().fetch('/trust/hearth.mobileconfig')).text())
  expect((await house.stranger().fetch('/trust')).status).toBe(200)
  expect((await house.stranger().fetch('/trust/ca.key')).status).toBe(404)
})

test('a new host name beyond the authority is told at once', async () => {
  const owner = await house.residentOwner()
  await owner.api.settings.update({ body: { SERVICE_ALLOWED_HOSTS: 'late.example' } })
  expect((await owner.api.trust.get()).uncovered).toEqual(['late.example'])
})

test('a restart keeps it; switched off, the port answers plain HTTP alone', async () => {
  await house.restart()
  expect((await ask('/api/status')).status).toBe(200)
  const owner = await house.owner()
  await owner.api.trust.disable()
  await expect(ask('/api/status')).rejects.toThrow()
  expect((await house.stranger().fetch('/api/status')).status).toBe(200)
  await owner.api.trust.enable()
  expect(rootFile()).not.toBe(root)
  await expect(ask('/api/status')).rejects.toThrow()
  expect((await ask('/api/status', 'hearth.local', rootFile())).status).toBe(200)
})
