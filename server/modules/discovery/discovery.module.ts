import type { Module } from '../../kit/module.ts'
import { isPrivateAddress } from '../../kit/request-facts.ts'
import { isOpenToNetwork, type Listening, lanAddresses, localName, type Machine, thisMachine } from '../../kit/server-addresses.ts'
import { type Announcer, createAnnouncer } from './announcement.ts'

export interface DiscoveryDeps {
  /** SERVICE_DISCOVERY. */
  enabled: boolean
  listening(): Listening
  /** Who this is; null until it is set up. */
  identity(): { id: string; name: string } | null
  onFault(error: unknown): void
  version: string
  machine?: () => Machine
  lookAgainMs?: number
}

const LOOK_AGAIN_MS = 3_000

const isAnnounced = (address: string) => !address.includes(':') && isPrivateAddress(address)

/** Tells the home network by multicast DNS that this Hearth is here, from set-up on, and anew when its addresses change. */
export function createDiscovery({
  enabled,
  listening,
  identity,
  onFault,
  machine = thisMachine,
  lookAgainMs = LOOK_AGAIN_MS,
  ...deps
}: DiscoveryDeps): Module {
  let announcers: Announcer[] = []
  let announced = ''
  let timer: NodeJS.Timeout | undefined

  /** What is to be announced now, one for each address; none while nobody else can reach this server. */
  function wanted() {
    const { host, port, secure } = listening()
    const who = identity()
    if (!who || port === 0 || !isOpenToNetwork({ host, port, secure })) return []
    const { interfaces, name } = machine()
    const addresses = lanAddresses(interfaces).filter(
      (address) => isAnnounced(address) && (host === '0.0.0.0' || host === '::' || host === address),
    )
    const txt = { v: deps.version, name: who.name.slice(0, 100), path: '/', tls: secure ? '1' : '0', id: who.id }
    // With a part of its id, two houses of the same name do not clash.
    const title = `${who.name.slice(0, 40)} (${who.id.slice(0, 4)})`
    return addresses.map((address) => ({ name: title, port, txt, address, host: localName(name) ?? `hearth-${who.id.slice(0, 8)}.local` }))
  }

  async function withdraw(): Promise<void> {
    const old = announcers
    announcers = []
    await Promise.all(old.map((announcer) => announcer.withdraw()))
  }

  function look(): void {
    const now = wanted()
    const key = JSON.stringify(now)
    if (key === announced) return
    announced = key
    void withdraw()
    const own = now.map(({ address }) => address)
    announcers = now.map((announcement) => createAnnouncer(announcement, own, onFault))
  }

  return {
    name: 'discovery',
    async start() {
      if (!enabled) return
      timer = setInterval(() => {
        try {
          look()
        } catch (error) {
          onFault(error)
        }
      }, lookAgainMs)
      timer.unref()
    },
    async stop() {
      clearInterval(timer)
      await withdraw()
    },
  }
}
