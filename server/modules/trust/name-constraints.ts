import ipaddr from 'ipaddr.js'

/** Home networks and this machine: loopback, RFC 1918, link-local and unique local ones. */
const RANGES = ['127.0.0.0/8', '10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', '169.254.0.0/16', '::1/128', 'fc00::/7', 'fe80::/10']
const cidrs = RANGES.map((range) => ipaddr.parseCIDR(range))

const TAG = { sequence: 0x30, permitted: 0xa0, dnsName: 0x82, ipAddress: 0x87 } as const

function element(tag: number, ...content: Uint8Array[]): Buffer {
  const body = Buffer.concat(content)
  const size = body.length < 128 ? [body.length] : body.length < 256 ? [0x81, body.length] : [0x82, body.length >> 8, body.length & 255]
  return Buffer.concat([Buffer.from([tag, ...size]), body])
}

function rangeBytes([base, bits]: ReturnType<typeof ipaddr.parseCIDR>): Buffer {
  const address = base.toByteArray()
  const mask = address.map((_, at) => (0xff00 >> Math.max(0, Math.min(8, bits - at * 8))) & 0xff)
  return Buffer.from([...address, ...mask])
}

/** Whether an authority of ours may vouch for an address. */
export function isPermittedAddress(text: string): boolean {
  const address = ipaddr.parse(text)
  return cidrs.some(([base, bits]) => base.kind() === address.kind() && address.match(base, bits))
}

interface Part {
  tag: number
  body: Buffer
  end: number
}

function first(der: Buffer): Part {
  const short = der.readUInt8(1)
  const extra = short < 128 ? 0 : short - 128
  const size = extra === 0 ? short : der.readUIntBE(2, extra)
  const end = 2 + extra + size
  return { tag: der.readUInt8(0), body: der.subarray(2 + extra, end), end }
}

function parts(der: Buffer): Part[] {
  const found: Part[] = []
  for (let at = 0; at < der.length; ) {
    const part = first(der.subarray(at))
    found.push(part)
    at += part.end
  }
  return found
}

const OID_BYTES = Buffer.from([0x06, 0x03, 0x55, 0x1d, 0x1e])
/** The BOOLEAN between the extension's name and its value. */
const CRITICAL_SIZE = 3

/** The host names to which a certificate of ours is kept. Throws where it is kept to none, since such a one is not ours. */
export function constrainedNames(certificate: Buffer): string[] {
  const at = certificate.indexOf(OID_BYTES)
  if (at < 0) throw new Error('the authority has no name constraints')
  const octets = first(certificate.subarray(at + OID_BYTES.length + CRITICAL_SIZE))
  const [list] = parts(octets.body)
  const [permitted] = list ? parts(list.body) : []
  const names = permitted ? parts(permitted.body).flatMap(({ body }) => parts(body).filter(({ tag }) => tag === TAG.dnsName)) : []
  return names.map(({ body }) => body.toString('ascii'))
}

/** The extension that keeps an authority to its own names (RFC 5280, 4.2.1.10); the library has none. */
export const nameConstraints = {
  oid: '2.5.29.30',
  encode(names: string[]): Uint8Array<ArrayBuffer> {
    const trees = [
      ...names.map((name) => element(TAG.dnsName, Buffer.from(name, 'ascii'))),
      ...cidrs.map((cidr) => element(TAG.ipAddress, rangeBytes(cidr))),
    ].map((base) => element(TAG.sequence, base))
    return new Uint8Array(element(TAG.sequence, element(TAG.permitted, ...trees)))
  },
}
