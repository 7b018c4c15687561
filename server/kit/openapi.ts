import { z } from 'zod'
import type { Contract, EndpointSpec } from './endpoint.ts'
import { ErrorBody } from './errors.ts'

type Json = Record<string, unknown>

const AUDIENCE: Record<EndpointSpec['access'], string> = {
  public: 'Needs no credential.',
  lan: 'For devices on the home network.',
  webhook: 'Needs the hook’s own secret.',
  guest: 'For guests and up.',
  member: 'For members and up.',
  admin: 'For admins.',
  owner: 'For the owner’s browser session alone.',
}

const ERRORS: [number, string][] = [
  [400, 'The request is not valid; `details` names each fault.'],
  [401, 'No valid credential: `{"error":"Unauthorized"}`.'],
  [403, 'The credential does not reach this.'],
  [429, 'Too many tries; see Retry-After.'],
]

/** Builds the OpenAPI 3.1 document from the contracts that the router serves; named schemas become components. */
export function openApi(contracts: Record<string, Contract>, version: string): Json & { openapi: string } {
  const schemas: Json = {}

  /** A schema with a name becomes a component; what is returned refers to it. */
  const schema = (type: z.ZodType, io: 'input' | 'output'): Json => {
    const made = z.toJSONSchema(type, { io, unrepresentable: 'any' })
    const text = JSON.stringify(made).replaceAll('"#/$defs/', '"#/components/schemas/')
    const { $schema: _, $defs = {}, ...root } = JSON.parse(text) as Json & { $defs?: Record<string, Json> }
    for (const [name, { id: _id, ...definition }] of Object.entries($defs)) schemas[name] = definition
    const { id, ...rest } = root
    if (typeof id !== 'string') return root
    schemas[id] = rest
    return { $ref: `#/components/schemas/${id}` }
  }
  const content = (type: z.ZodType, io: 'input' | 'output', mime = 'application/json') => ({ [mime]: { schema: schema(type, io) } })

  const parameters = (spec: EndpointSpec) =>
    (['params', 'query'] as const).flatMap((part) =>
      Object.entries(spec[part]?.shape ?? {}).map(([name, type]) => ({
        name,
        in: part === 'params' ? 'path' : 'query',
        required: part === 'params' || !z.safeParse(type as z.ZodType, undefined).success,
        schema: schema(type as z.ZodType, 'input'),
      })),
    )

  function success(spec: EndpointSpec): Json {
    if (spec.returns instanceof z.ZodVoid)
      return spec.kind === 'stream' ? { 302: { description: 'Go there' } } : { 204: { description: 'Done' } }
    if (spec.kind === 'stream') return { 200: { description: 'A stream', content: content(spec.returns, 'output', 'text/event-stream') } }
    return { [spec.status ?? 200]: { description: 'Done', content: content(spec.returns, 'output') } }
  }

  function operation(tag: string, name: string, spec: EndpointSpec): Json {
    const mime = spec.kind === 'upload' ? 'multipart/form-data' : 'application/json'
    const optional = spec.body && z.safeParse(spec.body, undefined).success
    return {
      operationId: `${tag}.${name}`,
      tags: [tag],
      summary: spec.summary,
      description: [AUDIENCE[spec.access], spec.description].filter(Boolean).join(' '),
      'x-access': spec.access,
      security: ['public', 'lan', 'webhook'].includes(spec.access) ? [] : [{ bearer: [] }, { session: [] }],
      parameters: parameters(spec),
      ...(spec.body && { requestBody: { required: !optional, content: content(spec.body, 'input', mime) } }),
      responses: {
        ...success(spec),
        ...Object.fromEntries(ERRORS.map(([status, description]) => [status, { description, content: content(ErrorBody, 'output') }])),
      },
    }
  }

  const paths: Record<string, Json> = {}
  for (const [tag, contract] of Object.entries(contracts)) {
    for (const [name, spec] of Object.entries(contract)) {
      paths[spec.path] = { ...paths[spec.path], [spec.method.toLowerCase()]: operation(tag, name, spec) }
    }
  }
  return {
    openapi: '3.1.0',
    info: { title: 'Hearth', version, description: 'A household assistant that lives on your home PC.' },
    paths,
    components: {
      schemas,
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer', description: 'An access token of a paired device, or an API key.' },
        session: { type: 'apiKey', in: 'cookie', name: 'hearth_session' },
      },
    },
  }
}
