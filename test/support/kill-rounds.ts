import { setTimeout as wait } from 'node:timers/promises'
import BetterSqlite3 from 'better-sqlite3'
import type { Browser, Person } from './house.ts'
import { BY_ENVIRONMENT, dataRoot, type ServerProcess, startServer } from './process.ts'

/** What the server acknowledged with a complete 2xx answer. */
interface Acknowledged {
  keys: Map<string, string>
  revoked: Set<string>
  devices: { id: string; accessToken: string }[]
  /** By conversation: what was said and what came back, in order. */
  said: Map<string, { text: string; reply: string }[]>
  title: { conversationId: string; last: number } | null
  host: number
}

export interface KillReport {
  acknowledged: number
  /** One line for each acknowledged thing that was not there, or not as it was acknowledged. */
  lost: string[]
  /** From the start of the process to its ready line. */
  readyMs: number[]
}

const json = (body: unknown): RequestInit => ({
  method: 'POST',
  body: JSON.stringify(body),
  headers: { 'content-type': 'application/json' },
})
/** No round ends with less to lose than this. */
const LEAST = 10
let counter = 0
const next = () => counter++

type Writer = (owner: Browser, server: ServerProcess, acknowledged: Acknowledged) => Promise<void>

async function writeKeys(owner: Browser, _server: ServerProcess, { keys, revoked }: Acknowledged): Promise<void> {
  const label = `key ${next()}`
  const made = await owner.api.keys.create({ body: { label, scope: 'guest' } })
  keys.set(made.id, label)
  const doomed = await owner.api.keys.create({ body: { label: `${label}, doomed`, scope: 'guest' } })
  await owner.api.keys.revoke({ params: { id: doomed.id } })
  revoked.add(doomed.id)
}

async function pair(owner: Browser, server: ServerProcess, { devices }: Acknowledged): Promise<void> {
  const { qr } = await owner.api.pairing.start({ body: {} })
  const { code, secret } = JSON.parse(Buffer.from(qr.split('d=')[1] ?? '', 'base64url').toString()) as { code: string; secret: string }
  const completed = await server
    .stranger()
    .api.pairing.complete({ body: { code, secret, deviceInfo: { name: `phone ${next()}`, type: 'phone' } } })
  devices.push({ id: completed.device.id, accessToken: completed.accessToken })
}

/** A writer that talks on in a conversation of its own. */
function talker(): Writer {
  let conversationId: string | undefined
  return async (owner, _server, { said }) => {
    const text = `saying ${next()}`
    const answer = await owner.fetch('/api/chat', json({ message: text, ...(conversationId && { conversationId }) }))
    const body = await answer.text()
    if (answer.status !== 200) throw new Error(`chat answered ${answer.status}`)
    const end = body.indexOf('\n')
    conversationId = (JSON.parse(body.slice(0, end)) as { conversationId: string }).conversationId
    said.set(conversationId, [...(said.get(conversationId) ?? []), { text, reply: body.slice(end + 1) }])
  }
}

async function rename(owner: Browser, _server: ServerProcess, acknowledged: Acknowledged): Promise<void> {
  const { title } = acknowledged
  if (!title) return
  const number = next()
  await owner.fetch(`/api/chat/conversations/${title.conversationId}`, json({ title: `title ${number}` })).then((answer) => answer.text())
  title.last = number
}

async function changeSettings(owner: Browser, _server: ServerProcess, acknowledged: Acknowledged): Promise<void> {
  const number = next()
  await owner.api.settings.update({ body: { SERVICE_ALLOWED_HOSTS: `host${number}.example` } })
  acknowledged.host = number
}

async function check(owner: Browser, as: (token: string) => Person, acknowledged: Acknowledged): Promise<string[]> {
  const lost: string[] = []
  const keys = new Map((await owner.api.keys.list()).map(({ id, label }) => [id, label]))
  for (const [id, label] of acknowledged.keys) if (keys.get(id) !== label) lost.push(`${label} is ${keys.get(id) ?? 'gone'}`)
  for (const id of acknowledged.revoked) if (keys.has(id)) lost.push(`a revoked key is back: ${keys.get(id)}`)
  const devices = new Set((await owner.api.pairedDevices.list()).map(({ id }) => id))
  for (const { id } of acknowledged.devices) if (!devices.has(id)) lost.push(`device ${id}`)
  const newest = acknowledged.devices.at(-1)
  if (newest && (await as(newest.accessToken).fetch('/api/household')).status !== 200) lost.push(`the token of device ${newest.id}`)
  for (const [id, turns] of acknowledged.said) {
    const { messages, title } = await owner.api.chat.get({ params: { id } })
    const kept = messages.map(({ role, content, status }) => `${role} ${status}: ${content}`)
    const expected = turns.flatMap(({ text, reply }) => [`user complete: ${text}`, `assistant complete: ${reply}`])
    let at = 0
    for (const line of kept) if (line === expected[at]) at += 1
    if (at < expected.length) lost.push(`${expected[at]} (${at} of ${expected.length})`)
    if (acknowledged.title?.conversationId === id && Number(title.split(' ')[1]) < acknowledged.title.last)
      lost.push(`title ${acknowledged.title.last} is ${title}`)
  }
  const host = Number(/\d+/.exec((await owner.api.settings.get()).SERVICE_ALLOWED_HOSTS ?? '-1')?.[0] ?? -1)
  if (host < acknowledged.host) lost.push(`setting ${acknowledged.host} is ${host}`)
  if ((await owner.api.status.get()).status !== 'ok') lost.push('the database was found damaged')
  return lost
}

const countOf = ({ keys, revoked, devices, said }: Acknowledged) =>
  keys.size + revoked.size + devices.length + [...said.values()].flat().length

/**
 * Starts the server, lets many clients write at once, kills it at a random moment and looks after the next start whether
 * everything acknowledged is there; `rounds` times on the same data.
 */
export async function killRounds(rounds: number): Promise<KillReport> {
  using root = dataRoot()
  const report: KillReport = { acknowledged: 0, lost: [], readyMs: [] }
  let acknowledged: Acknowledged = { keys: new Map(), revoked: new Set(), devices: [], said: new Map(), title: null, host: -1 }
  let port = '0'
  let owner: Browser | undefined
  for (let round = 0; round <= rounds; round++) {
    const startedAt = performance.now()
    await using server = await startServer(root.path, { env: { ...BY_ENVIRONMENT, SERVICE_PORT: port } })
    report.readyMs.push(performance.now() - startedAt)
    port = String(server.port)
    owner ??= await server.owner()
    const as = (token: string): Person => ({
      ...server.stranger(),
      fetch: (path, init) => server.stranger().fetch(path, { ...init, headers: { authorization: `Bearer ${token}` } }),
    })
    report.lost.push(...(await check(owner, as, acknowledged)).map((line) => `round ${round}: ${line}`))
    report.acknowledged += countOf(acknowledged)
    if (round === rounds) break

    acknowledged = { keys: new Map(), revoked: new Set(), devices: [], said: new Map(), title: null, host: -1 }
    let alive = true
    const work = async (writer: Writer) => {
      while (alive) {
        await writer(owner as Browser, server, acknowledged).catch((error: unknown) => {
          if (alive) report.lost.push(`round ${round}: refused while it was alive: ${String(error)}`)
        })
        acknowledged.title ??= [...acknowledged.said.keys()].map((conversationId) => ({ conversationId, last: -1 }))[0] ?? null
        await wait(1)
      }
    }
    const working = [writeKeys, writeKeys, pair, changeSettings, rename, talker(), talker(), talker(), talker()].map(work)
    for (const deadline = performance.now() + 10_000; countOf(acknowledged) < LEAST && performance.now() < deadline; ) await wait(10)
    await wait(Math.random() * 500)
    alive = false
    await server.kill()
    await Promise.all(working)
  }
  const raw = new BetterSqlite3(root.file('hearth.sqlite'), { readonly: true })
  const verdict = raw.pragma('integrity_check', { simple: true })
  raw.close()
  if (verdict !== 'ok') report.lost.push(String(verdict))
  return report
}
