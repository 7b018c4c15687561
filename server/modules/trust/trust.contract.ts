import { z } from 'zod'
import { endpoint, nothing } from '../../kit/endpoint.ts'

export const Trust = z
  .object({
    enabled: z.boolean().describe('Whether this server answers over TLS with a certificate of its own authority.'),
    fixed: z.boolean().describe('The environment names a certificate; it is used, and there is nothing to switch here.'),
    fault: z.string().nullable().describe('Why the authority that was made cannot be used.'),
    fingerprint: z.string().nullable().describe('SHA-256 of the authority’s certificate.'),
    names: z.array(z.string()).describe('Names and addresses for which the certificate holds.'),
    uncovered: z.array(z.string()).describe('Names of this server that came after the authority; only a new one may vouch for them.'),
    expiresAt: z.iso.datetime().nullable().describe('When the authority ends. The server’s certificate is renewed before it does.'),
  })
  .meta({ id: 'Trust' })
export type Trust = z.output<typeof Trust>

export const trustContract = {
  get: endpoint({
    method: 'GET',
    path: '/api/trust',
    access: 'public',
    summary: 'Hearth’s own certificate authority',
    description: 'The certificate to install is at `/trust/hearth-ca.crt`, and as a profile for iOS at `/trust/hearth.mobileconfig`.',
    returns: Trust,
  }),
  enable: endpoint({
    method: 'POST',
    path: '/api/trust',
    access: 'owner',
    summary: 'Make the authority and answer over TLS',
    description:
      'One that is in use stays; one that cannot be used any more is made anew. 409 `tls_fixed` where the environment names a certificate.',
    returns: Trust,
  }),
  disable: endpoint({
    method: 'DELETE',
    path: '/api/trust',
    access: 'owner',
    summary: 'Remove the authority and answer plain HTTP alone',
    returns: nothing,
  }),
}
