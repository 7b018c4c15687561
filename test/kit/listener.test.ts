import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { request as httpRequest } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { createListener, type Listener } from '../../server/kit/listener.ts'

const dir = mkdtempSync(join(tmpdir(), 'hearth-tls-'))
let listener: Listener
let port: number
const upgrades: string[] = []

beforeAll(async () => {
  const [key, cert] = [join(dir, 'key.pem'), join(dir, 'cert.pem')]
  const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost,IP:127.0.0.1']
  execFileSync('openssl', ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', '-keyout', key, '-out', cert, ...subject], {
    stdio: 'ignore',
  })
  listener = createListener({
    handle(req, res) {
      res.end(`${'encrypted' in req.socket ? 'tls' : 'plain'} ${req.url}`)
    },
    upgrade(req, socket) {
      upgrades.push(`${'encrypted' in req.socket ? 'tls' : 'plain'} ${req.url}`)
      socket.end('HTTP/1.1 418 Refused\r\nconnection: close\r\n\r\n')
    },
    tls: { cert: readFileSync(cert, 'utf8'), key: readFileSync(key, 'utf8') },
  })
  port = await listener.listen(0, '127.0.0.1')
})
afterAll(async () => {
  await listener.close(500)
  rmSync(dir, { recursive: true, force: true })
})

function ask(secure: boolean, path: string): Promise<string> {
  const ca = readFileSync(join(dir, 'cert.pem'))
  return new Promise((resolve, reject) => {
    const options = { host: '127.0.0.1', port, path, agent: false as const }
    const outgoing = secure ? httpsRequest({ ...options, ca }) : httpRequest(options)
    outgoing.once('error', reject)
    outgoing.once('response', async (incoming) => resolve((await incoming.setEncoding('utf8').toArray()).join('')))
    outgoing.end()
  })
}

test('one port answers TLS and plain HTTP, each connection by its first byte', async () => {
  expect(await Promise.all([ask(true, '/a'), ask(false, '/b'), ask(true, '/c'), ask(false, '/d')])).toEqual([
    'tls /a',
    'plain /b',
    'tls /c',
    'plain /d',
  ])
})

test('upgrades arrive over both', async () => {
  const refused = (url: string) =>
    new Promise<void>((resolve) => {
      const socket = new WebSocket(url, { rejectUnauthorized: false })
      socket.once('error', () => resolve())
    })
  await refused(`ws://127.0.0.1:${port}/one`)
  await refused(`wss://127.0.0.1:${port}/two`)
  expect(upgrades).toEqual(['plain /one', 'tls /two'])
})

test('what is no HTTP at all is answered 400 and closed', async () => {
  const answer = await new Promise<string>((resolve) => {
    const socket = connect(port, '127.0.0.1', () => socket.write('\u0001\u0002 nonsense\r\n\r\n'))
    let text = ''
    socket.setEncoding('utf8').on('data', (part) => {
      text += part
    })
    socket.once('close', () => resolve(text))
  })
  expect(answer).toMatch(/^HTTP\/1\.1 400 /)
})

test('listening again on the same port leaves an open connection be', async () => {
  const socket = connect(port, '127.0.0.1')
  await new Promise((resolve) => socket.once('connect', resolve))
  socket.write('GET /before HTTP/1.1\r\nhost: localhost\r\n\r\n')
  const next = () => new Promise<string>((resolve) => socket.once('data', (data) => resolve(String(data))))
  expect(await next()).toContain('plain /before')
  expect(await listener.listen(port, '127.0.0.1')).toBe(port)
  expect(await ask(false, '/again')).toBe('plain /again')
  expect(await ask(true, '/again')).toBe('tls /again')
  socket.destroy()
})
