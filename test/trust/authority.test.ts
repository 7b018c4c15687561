import { execFileSync } from 'node:child_process'
import { X509Certificate } from 'node:crypto'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createLog } from '../../server/kit/log.ts'
import { createAuthority } from '../../server/modules/trust/authority.service.ts'
import { createAuthorityFiles } from '../../server/modules/trust/authority-files.ts'
import { createServerIdentity, type Identity } from '../../server/modules/trust/certificates.ts'
import { certifiedAddresses, certifiedNames } from '../../server/modules/trust/certified-names.ts'

const DAY_MS = 86_400_000
let folder: string
let at: number
let names: string[]
let addresses: string[]
let served: (Identity | null)[]

beforeEach(() => {
  folder = join(mkdtempSync(join(tmpdir(), 'hearth-authority-')), 'tls')
  at = Date.now()
  names = ['attic', 'attic.local', 'hearth.local', 'localhost', 'nas.lan']
  addresses = ['192.168.1.5', 'fd00::5']
  served = []
})
afterEach(() => rmSync(join(folder, '..'), { recursive: true, force: true }))

const make = (fixed = false) =>
  createAuthority({
    files: createAuthorityFiles(folder),
    fixed,
    names: () => names,
    addresses: () => addresses,
    onIdentity: (identity) => void served.push(identity),
    log: createLog('fatal'),
    now: () => at,
  })

const now = () => new X509Certificate(served.at(-1)?.cert ?? '')

/** What OpenSSL thinks of a certificate under our root. */
function verify(cert: string, ...options: string[]): string {
  const file = join(folder, '..', 'asked.pem')
  writeFileSync(file, cert)
  try {
    const asked = ['verify', '-x509_strict', '-purpose', 'sslserver', '-CAfile', join(folder, 'ca.crt'), ...options, file]
    return execFileSync('openssl', asked, { encoding: 'utf8', stdio: 'pipe' })
  } catch (error) {
    return String((error as { stderr: string }).stderr)
  }
}

test('it is made when it is asked for, holds for names and addresses, and strict readers take it', async () => {
  const authority = make()
  await authority.start()
  expect(authority.describe()).toMatchObject({ enabled: false, fault: null, fingerprint: null, names: [] })
  expect(served).toEqual([])
  await authority.enable()
  for (const name of names) expect(verify(now().toString(), '-verify_hostname', name), name).toMatch(/: OK/)
  for (const ip of [...addresses, '127.0.0.1', '::1']) expect(verify(now().toString(), '-verify_ip', ip), ip).toMatch(/: OK/)
  expect(verify(now().toString(), '-verify_hostname', 'bank.example')).toMatch(/mismatch/)
  const root = new X509Certificate(readFileSync(join(folder, 'ca.crt')))
  expect(root.ca).toBe(true)
  expect(authority.describe()).toMatchObject({ enabled: true, fingerprint: root.fingerprint256, uncovered: [] })
  const days = (now().validToDate.getTime() - now().validFromDate.getTime()) / DAY_MS
  expect(days).toBeLessThanOrEqual(397)
  expect((root.validToDate.getTime() - at) / DAY_MS / 365.25).toBeCloseTo(10, 1)
  await authority.stop()
})

test('what is made with its key for a foreign name or address is refused', async () => {
  await make().enable()
  const root = { cert: readFileSync(join(folder, 'ca.crt'), 'utf8'), key: readFileSync(join(folder, 'ca.key'), 'utf8') }
  const text = execFileSync('openssl', ['x509', '-in', join(folder, 'ca.crt'), '-noout', '-text'], { encoding: 'utf8' })
  expect(text).toMatch(/Name Constraints: critical/)
  for (const foreign of ['bank.example', '8.8.8.8', '2001:db8::5', '172.32.0.1', '11.0.0.1', 'evilattic']) {
    const { cert } = await createServerIdentity(root, ['attic', foreign], at)
    expect(verify(cert), foreign).toMatch(/permitted subtree violation/)
  }
  for (const own of ['attic', '172.31.255.1', '10.255.0.1', 'fdff::1', 'fe80::1', '169.254.1.1', '127.9.9.9']) {
    const { cert } = await createServerIdentity(root, [own], at)
    expect(verify(cert), own).toMatch(/: OK/)
  }
})

test('its files are for the server’s own eyes', async () => {
  await make().enable()
  expect(readdirSync(folder).sort()).toEqual(['ca.crt', 'ca.key', 'server.crt', 'server.key'])
  for (const name of ['ca.key', 'server.key']) expect((statSync(join(folder, name)).mode & 0o777).toString(8), name).toBe('600')
  expect((statSync(folder).mode & 0o777).toString(8)).toBe('700')
})

test('a restart keeps the certificates', async () => {
  await make().enable()
  const before = now().fingerprint256
  await make().start()
  expect(served).toHaveLength(2)
  expect(now().fingerprint256).toBe(before)
})

test('the server’s certificate is made anew when an address or a name changes, and not otherwise', async () => {
  const authority = make()
  await authority.enable()
  await authority.refresh()
  expect(served).toHaveLength(1)
  addresses = ['192.168.1.77', '203.0.113.5']
  await authority.refresh()
  expect(served).toHaveLength(2)
  expect(authority.describe().names).toEqual([...names, '127.0.0.1', '0:0:0:0:0:0:0:1', '192.168.1.77'])
  expect(verify(now().toString(), '-verify_ip', '192.168.1.77')).toMatch(/: OK/)
  await authority.refresh()
  expect(served).toHaveLength(2)
})

test('a name that came after the authority is told, and left out', async () => {
  const authority = make()
  await authority.enable()
  names = [...names, 'house.example']
  await authority.refresh()
  expect(authority.describe()).toMatchObject({ enabled: true, uncovered: ['house.example'] })
  expect(verify(now().toString())).toMatch(/: OK/)
  await authority.disable()
  await authority.enable()
  expect(authority.describe().uncovered).toEqual([])
  expect(verify(now().toString(), '-verify_hostname', 'house.example')).toMatch(/: OK/)
})

test('it is renewed a month before it ends, also when the clock was set back, and never outlives its authority', async () => {
  const authority = make()
  await authority.enable()
  at += 365 * DAY_MS
  await authority.refresh()
  expect(served).toHaveLength(1)
  at += 3 * DAY_MS
  await authority.refresh()
  expect(served).toHaveLength(2)
  at -= 300 * DAY_MS
  await authority.refresh()
  expect(served).toHaveLength(3)
  at = new X509Certificate(readFileSync(join(folder, 'ca.crt'))).validToDate.getTime() - 10 * DAY_MS
  await authority.refresh()
  await authority.refresh()
  expect(served).toHaveLength(4)
  expect(now().validToDate.getTime() - at).toBe(10 * DAY_MS)
  at += 11 * DAY_MS
  await authority.refresh()
  expect(served.at(-1)).toBeNull()
  expect(authority.describe()).toMatchObject({ enabled: false, fault: expect.stringMatching(/come to its end/) })
  await authority.enable()
  expect(authority.describe()).toMatchObject({ enabled: true, fault: null })
})

test.each(['server.crt', 'server.key'])('a damaged %s is made anew from the authority', async (name) => {
  await make().enable()
  const root = readFileSync(join(folder, 'ca.crt'), 'utf8')
  writeFileSync(join(folder, name), 'nonsense')
  const authority = make()
  await authority.start()
  expect(authority.describe()).toMatchObject({ enabled: true, fault: null })
  expect(readFileSync(join(folder, 'ca.crt'), 'utf8')).toBe(root)
  expect(verify(now().toString())).toMatch(/: OK/)
  await authority.stop()
})

test.each(['ca.crt', 'ca.key'])('a damaged %s switches it off with a reason, until a new one is asked for', async (name) => {
  await make().enable()
  writeFileSync(join(folder, name), name === 'ca.key' ? readFileSync(join(folder, 'server.key')) : 'nonsense')
  const authority = make()
  const before = served.length
  await authority.start()
  expect(served).toHaveLength(before)
  expect(authority.describe()).toMatchObject({ enabled: false, fault: expect.stringMatching(/damaged/), fingerprint: null })
  await authority.enable()
  expect(authority.describe()).toMatchObject({ enabled: true, fault: null })
  expect(verify(now().toString())).toMatch(/: OK/)
  await authority.stop()
})

test('what a crash left before the authority was whole is none', async () => {
  await make().enable()
  rmSync(join(folder, 'ca.crt'))
  const authority = make()
  await authority.start()
  expect(authority.describe()).toMatchObject({ enabled: false, fault: null })
  await authority.enable()
  expect(verify(now().toString())).toMatch(/: OK/)
  await authority.stop()
})

test('switched off, nothing stays of it', async () => {
  const authority = make()
  await authority.enable()
  await Promise.all([authority.refresh(), authority.disable(), authority.refresh()])
  expect(served.at(-1)).toBeNull()
  expect(existsSync(folder)).toBe(false)
  expect(authority.certificate()).toBeNull()
})

test('where the environment names a certificate there is nothing to switch', async () => {
  const authority = make(true)
  await authority.start()
  await expect(authority.enable()).rejects.toMatchObject({ status: 409, code: 'tls_fixed' })
  await expect(authority.disable()).rejects.toMatchObject({ status: 409, code: 'tls_fixed' })
  expect(authority.describe()).toMatchObject({ enabled: false, fixed: true })
  expect(existsSync(folder)).toBe(false)
  await authority.stop()
})

test('names are the machine’s and those that were added, as far as a certificate can hold them', () => {
  const added = { publicUrl: () => 'https://house.example:8443', allowedHosts: () => ['nas.lan', '10.0.0.9', 'bad name', 'bücher.example'] }
  const machine = { name: 'Attic.lan', interfaces: { eth0: [{ address: '192.168.1.5', family: 'IPv4' as const, internal: false }] } }
  expect(certifiedNames(added, machine)).toEqual(['attic.lan', 'attic.local', 'hearth.local', 'localhost', 'nas.lan', 'house.example'])
  expect(certifiedAddresses(added, machine)).toEqual(['192.168.1.5', '10.0.0.9'])
})
