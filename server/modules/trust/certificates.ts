import { createHash, createPrivateKey, randomBytes, X509Certificate } from 'node:crypto'
import { isIP } from 'node:net'
import { isPermittedAddress, nameConstraints } from './name-constraints.ts'

/** A certificate and its key as PEM texts. */
export interface Identity {
  cert: string
  key: string
}

const DAY_MS = 86_400_000
const ROOT_DAYS = 3_652
const SERVER_DAYS = 396
/** Clocks of devices may be behind ours. */
const BACK_MS = DAY_MS / 2
const ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' } as const

/** The library is large and wanted once a year: it is loaded when something is to be signed. */
async function loadX509() {
  await import('reflect-metadata')
  return import('@peculiar/x509')
}

/** Positive and without a leading zero, as the encoding of an integer wants it. */
const serialNumber = () => `4${randomBytes(16).toString('hex').slice(1)}`

const newKeys = () => crypto.subtle.generateKey(ALGORITHM, true, ['sign', 'verify'])

async function keyText(key: CryptoKey): Promise<string> {
  const der = Buffer.from(await crypto.subtle.exportKey('pkcs8', key))
  return createPrivateKey({ key: der, format: 'der', type: 'pkcs8' }).export({ format: 'pem', type: 'pkcs8' }).toString()
}

/** A new authority for ten years. It can vouch for `names` and for addresses of home networks, and for nothing else. */
export async function createRoot(names: string[], now: number): Promise<Identity> {
  const x509 = await loadX509()
  const keys = await newKeys()
  const root = await x509.X509CertificateGenerator.createSelfSigned(
    {
      name: [{ CN: [`Hearth of ${names[0]} ${randomBytes(2).toString('hex')}`] }, { O: ['Hearth'] }],
      serialNumber: serialNumber(),
      notBefore: new Date(now - BACK_MS),
      notAfter: new Date(now + ROOT_DAYS * DAY_MS),
      keys,
      signingAlgorithm: ALGORITHM,
      extensions: [
        new x509.BasicConstraintsExtension(true, 0, true),
        new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign, true),
        await x509.SubjectKeyIdentifierExtension.create(keys.publicKey, false, crypto),
        new x509.Extension(nameConstraints.oid, true, nameConstraints.encode(names)),
      ],
    },
    crypto,
  )
  return { cert: `${root.toString('pem')}\n`, key: await keyText(keys.privateKey) }
}

/** A certificate of the server, signed by the authority; `names` are host names and addresses. */
export async function createServerIdentity(root: Identity, names: string[], now: number): Promise<Identity> {
  const x509 = await loadX509()
  const issuer = new x509.X509Certificate(root.cert)
  const der = createPrivateKey(root.key).export({ format: 'der', type: 'pkcs8' })
  const signingKey = await crypto.subtle.importKey('pkcs8', new Uint8Array(der), ALGORITHM, false, ['sign'])
  const keys = await newKeys()
  const server = await x509.X509CertificateGenerator.create(
    {
      subject: [{ CN: ['Hearth'] }],
      issuer: issuer.subjectName.toJSON(),
      serialNumber: serialNumber(),
      notBefore: new Date(now - BACK_MS),
      notAfter: new Date(Math.min(now + SERVER_DAYS * DAY_MS, issuer.notAfter.getTime())),
      publicKey: keys.publicKey,
      signingKey,
      signingAlgorithm: ALGORITHM,
      extensions: [
        new x509.BasicConstraintsExtension(false, undefined, true),
        new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
        new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.serverAuth]),
        new x509.SubjectAlternativeNameExtension(names.map((value) => ({ type: isIP(value) ? ('ip' as const) : ('dns' as const), value }))),
        await x509.SubjectKeyIdentifierExtension.create(keys.publicKey, false, crypto),
        await x509.AuthorityKeyIdentifierExtension.create(issuer.publicKey, false, crypto),
      ],
    },
    crypto,
  )
  return { cert: `${server.toString('pem')}\n`, key: await keyText(keys.privateKey) }
}

/** What of the wanted names an authority made for `rootNames` may vouch for. */
export function permitted(wanted: string[], rootNames: string[]): string[] {
  return wanted.filter((name) =>
    isIP(name) ? isPermittedAddress(name) : rootNames.some((own) => name === own || name.endsWith(`.${own}`)),
  )
}

/** A certificate that fits its key; throws where one of them is damaged. */
export function readIdentity({ cert, key }: Identity): X509Certificate {
  const certificate = new X509Certificate(cert)
  if (!certificate.checkPrivateKey(createPrivateKey(key))) throw new Error('the certificate and its key do not belong together')
  return certificate
}

/** The names of a certificate, addresses in their shortest form. */
export function namesIn({ subjectAltName = '' }: X509Certificate): string[] {
  return subjectAltName.split(', ').map((entry) => entry.replace(/^(DNS|IP Address):/, ''))
}

/** SHA-256 as devices show it: pairs in capitals with colons between. */
export const fingerprintOf = ({ raw }: X509Certificate): string =>
  (createHash('sha256').update(raw).digest('hex').toUpperCase().match(/../g) ?? []).join(':')
