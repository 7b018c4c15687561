import type { ServiceRecord } from 'bonjour-service/dist/lib/service.js'

export interface Announcement {
  /** Shown to people who look for a Hearth. */
  name: string
  port: number
  txt: { v: string; name: string; path: string; tls: string; id: string }
  /** Of this interface alone. */
  address: string
  /** The host name that stands for the address. */
  host: string
}

/** One interface on which this Hearth is told to the network. */
export interface Announcer {
  /** Resolves when the name was looked for and the first announcement is out. */
  ready: Promise<void>
  /** Takes it back; resolves when that is out, or after a moment. */
  withdraw(): Promise<void>
}

const PROBES = 3
const PROBE_MS = 250
const AGAIN_MS = 1_000
const WITHDRAW_MS = 300
const FREE_NAME = 'hearth.local'

interface Packet {
  answers: { type: string; name: string; data: unknown }[]
}

const wait = (ms: number) => new Promise<void>((resolve) => void setTimeout(resolve, ms).unref())

/**
 * Announces `_hearth._tcp` on the interface that has `address`, under `hearth.local` where no other machine answers to it,
 * else under the host name that was given. The library’s own way to publish would name the addresses of every interface, and
 * on a clash take back the records of the other one.
 */
export function createAnnouncer(announcement: Announcement, ownAddresses: string[], onFault: (error: unknown) => void): Announcer {
  let isOver = false
  let send: ((ttl?: number) => Promise<void>) | undefined
  let close = () => undefined as unknown

  async function isTaken(mdns: MulticastDns): Promise<boolean> {
    let taken = false
    const listen = ({ answers }: Packet) => {
      taken ||= answers.some(
        ({ type, name, data }) => type === 'A' && name.toLowerCase() === FREE_NAME && !ownAddresses.includes(String(data)),
      )
    }
    mdns.on('response', listen)
    for (let asked = 0; asked < PROBES && !taken && !isOver; asked += 1) {
      mdns.query(FREE_NAME, 'A')
      await wait(PROBE_MS)
    }
    mdns.removeListener('response', listen)
    return taken
  }

  async function begin(): Promise<void> {
    const [{ Server }, { Service }] = await Promise.all([import('bonjour-service/dist/lib/mdns-server.js'), import('bonjour-service')])
    if (isOver) return
    const server = new Server({ interface: announcement.address, bind: '0.0.0.0' } as object, onFault)
    const mdns = server.mdns as MulticastDns
    close = () => mdns.destroy()
    mdns.on('error', onFault)
    mdns.on('warning', () => undefined)
    const host = (await isTaken(mdns)) ? announcement.host : FREE_NAME
    if (isOver) return
    const { name, port, txt, address } = announcement
    const nothing = () => undefined
    const service = new Service({ name, type: 'hearth', port, host, txt }, nothing, nothing)
    const isAddress = ({ type }: ServiceRecord) => type === 'A' || type === 'AAAA'
    const records = [
      ...service.records().filter((record) => !isAddress(record)),
      { name: host, type: 'A' as const, ttl: 120, data: address },
    ]
    server.register(records)
    send = (ttl) =>
      new Promise((resolve) => mdns.respond(ttl === undefined ? records : records.map((record) => ({ ...record, ttl })), () => resolve()))
    await send()
    void wait(AGAIN_MS).then(() => (isOver ? undefined : send?.()))
  }

  return {
    ready: begin().catch(onFault),
    async withdraw() {
      isOver = true
      await Promise.race([send?.(0), wait(WITHDRAW_MS)])
      close()
    },
  }
}

/** What of multicast-dns is used; it comes without types. */
interface MulticastDns {
  on(event: string, listener: (value: never) => void): void
  removeListener(event: string, listener: (value: never) => void): void
  query(name: string, type: string): void
  respond(records: ServiceRecord[], done: () => void): void
  destroy(): void
}
