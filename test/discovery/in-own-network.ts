import { Bonjour, type Service } from 'bonjour-service'
import { createDiscovery } from '../../server/modules/discovery/discovery.module.ts'

/** Run in a network of its own: announces a Hearth, and prints as JSON what others there see of it as its address changes and it stops. */
const listening = { host: '127.0.0.1', port: 7420, secure: false }
let identity: { id: string; name: string } | null = null
const faults: string[] = []
const discovery = createDiscovery({
  enabled: true,
  listening: () => listening,
  identity: () => identity,
  onFault: (error) => void faults.push(String(error)),
  version: '9.9.9',
  lookAgainMs: 50,
})

const ask = new Bonjour()
const seen: Pick<Service, 'name' | 'host' | 'port' | 'txt' | 'addresses'>[] = []
let down = 0
const browser = ask.find({ type: 'hearth' })
const next = () => new Promise<void>((resolve) => void browser.once('up', () => resolve()))
const gone = () => new Promise<void>((resolve) => void browser.once('down', () => resolve()))
browser.on('up', ({ name, host, port, txt, addresses }) => void seen.push({ name, host, port, txt, addresses: addresses ?? [] }))
browser.on('down', () => (down += 1))

await discovery.start?.()
await new Promise((resolve) => setTimeout(resolve, 300)) // nothing is awaited here: silence is what is looked at
const before = seen.length
const first = next()
identity = { id: '0f0f0f0f-1111-4222-8333-444444444444', name: 'Attic' }
listening.host = '0.0.0.0'
await first
const left = gone()
const again = next()
listening.secure = true
await Promise.all([left, again])
const last = gone()
await discovery.stop?.()
await last
process.stdout.write(JSON.stringify({ before, seen, down, faults }))
ask.destroy()
process.exit()
