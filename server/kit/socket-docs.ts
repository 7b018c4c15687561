import { z } from 'zod'
import { clientMessages, closeCodes, serverMessages, socketLimits } from './socket.contract.ts'
import type { ClientMessage, ServerMessage } from './socket-message.ts'
import type { Topic } from './topic.ts'

export interface SocketMessages {
  client: readonly ClientMessage[]
  server: readonly ServerMessage[]
  topics: readonly Topic[]
  /** What clients will be sent once another part of the house is there. */
  later: readonly { names: readonly string[]; with: string }[]
}

interface Field {
  type?: string | string[]
  description?: string
  enum?: unknown[]
  const?: unknown
  format?: string
  minimum?: number
  maximum?: number
  maxLength?: number
  minItems?: number
  maxItems?: number
  items?: Field
  anyOf?: Field[]
  oneOf?: Field[]
  properties?: Record<string, Field>
  additionalProperties?: Field | boolean
  required?: string[]
  $ref?: string
  $defs?: Record<string, Field>
}

/** A schema with those that it names put where they are named. */
function inlined(schema: unknown, defs: Record<string, Field>): unknown {
  if (Array.isArray(schema)) return schema.map((one) => inlined(one, defs))
  if (typeof schema !== 'object' || schema === null) return schema
  const { $ref, $defs: _named, ...own } = schema as Field
  const named = $ref === undefined ? {} : inlined(defs[$ref.replace('#/$defs/', '')], defs)
  return { ...(named as Field), ...Object.fromEntries(Object.entries(own).map(([name, value]) => [name, inlined(value, defs)])) }
}

const AUDIENCE = { guest: 'guests and up', member: 'members and up', admin: 'admins' }

/** Values that the schema of every whole number carries. */
const isBound = (value: number | undefined) => value !== undefined && Math.abs(value) < Number.MAX_SAFE_INTEGER

function bounds({ minimum, maximum, maxLength }: Field): string {
  const said = [
    isBound(minimum) && `from ${minimum}`,
    isBound(maximum) && `to ${maximum}`,
    maxLength !== undefined && `at most ${maxLength} characters`,
  ].filter(Boolean)
  return said.length > 0 ? `, ${said.join(', ')}` : ''
}

function kindOf(field: Field): string {
  const choices = field.anyOf ?? field.oneOf
  if (choices) return choices.map(kindOf).join(' or ')
  if (field.const !== undefined) return `\`${field.const}\``
  if (field.enum) return field.enum.map((value) => `\`${value}\``).join(', ')
  if (field.type === 'array') {
    const count = field.maxItems === undefined ? '' : `${field.minItems ?? 0} to ${field.maxItems}, each `
    return `list of ${count}${kindOf(field.items ?? {})}`
  }
  if (field.type === 'object' && typeof field.additionalProperties === 'object')
    return `object of ${kindOf(field.additionalProperties)} by name`
  if (field.properties) return `object of ${Object.keys(field.properties).join(', ')}`
  return `${field.format ?? [field.type ?? 'anything'].flat().join(' or ')}${bounds(field)}`
}

/** The fields of a payload as a table; of a choice between payloads one table each. */
function fields(schema: Field): string {
  const choices = schema.anyOf ?? schema.oneOf
  if (choices) return choices.map(fields).join('\n\nor\n\n')
  const properties = Object.entries(schema.properties ?? {})
  if (properties.length === 0) return schema.type === 'object' ? 'An empty payload.' : 'Any payload, or none.'
  const rows = properties.map(([name, field]) => {
    const words = `${kindOf(field)}${schema.required?.includes(name) ? '' : ' (optional)'}`
    return `| \`${name}\` | ${words} | ${field.description ?? ''} |`.replaceAll(/ +\|$/g, ' |')
  })
  return ['| Field | What it is | |', '|---|---|---|', ...rows].join('\n')
}

function section(name: string, payload: z.ZodType, io: 'input' | 'output', words: { summary?: string; access?: keyof typeof AUDIENCE }) {
  const written = z.toJSONSchema(payload, { io, unrepresentable: 'any' }) as Field
  const schema = inlined(written, written.$defs ?? {}) as Field
  const summary = words.summary ?? schema.description ?? ''
  return [`### \`${name}\``, words.access ? `${summary} For ${AUDIENCE[words.access]}.` : summary, fields(schema)].join('\n\n')
}

const byName = <T>(list: readonly T[], name: (of: T) => string) => list.toSorted((a, b) => (name(a) < name(b) ? -1 : 1))

const toCome = (later: SocketMessages['later']) =>
  [
    '| Messages and topics | Come with |',
    '|---|---|',
    ...later.map((part) => `| ${part.names.map((name) => `\`${name}\``).join(', ')} | ${part.with} |`),
  ].join('\n')

/** The document of the sockets, made from the schemas that messages are checked by. */
export function socketDocs({ client, server, topics, later }: SocketMessages): string {
  const { frameBytes, bufferedBytes, helloMs, pingMs, closeMs, floodPerSecond, floodSeconds } = socketLimits
  const parts = [
    '# The socket',
    '<!-- Made by scripts/write-socket-docs.mjs from the schemas; change those. -->',
    'One WebSocket at `/ws`, without compression. One JSON object goes in each text frame, both ways: `{"type", "id"?, "payload"}`. The answer `result` carries the `id` of the message it answers.',
    'The credential comes with the upgrade: an access token or key as the query `token`, as the subprotocols `bearer, <token>` (answered with `bearer`), or as the only subprotocol; browsers of this Hearth use their cookie, with an `Origin` of the same site. A bad credential is answered with HTTP 401, a foreign or missing `Origin` with 403. A socket lives as long as its session.',
    '## Limits',
    [
      '| What | Then |',
      '|---|---|',
      `| no \`hello\` within ${helloMs / 1000} s | counts as one |`,
      `| two pings in a row without a pong; there is one every ${pingMs / 1000} s | the connection is dropped, within 45 s of the last sign of life |`,
      '| a message that is none, of an unknown type, or whose payload is not valid | answered by `error`; the socket stays open |',
      `| a frame over ${frameBytes / 1024} KiB | closed with 1009 |`,
      `| over ${floodPerSecond} messages a second for ${floodSeconds} s, pings and pongs among them | closed with ${closeCodes.flood} |`,
      `| more than ${bufferedBytes / 1024 / 1024} MiB that the client did not read | closed with ${closeCodes.slowReader} |`,
      `| the session ended, or its scope changed | closed with ${closeCodes.revoked} |`,
      '| the server stops | closed with 1001 |',
      `| a close that is not answered within ${closeMs / 1000} s | the connection is dropped; what comes meanwhile is not heard |`,
    ].join('\n'),
    '## From the client',
    ...Object.entries(clientMessages).map(([name, payload]) => section(name, payload, 'input', {})),
    ...byName(client, ({ type }) => type).map((message) => section(message.type, message.payload, 'input', message)),
    '## From the server',
    ...Object.entries(serverMessages).map(([name, payload]) => section(name, payload, 'output', {})),
    ...byName(server, ({ type }) => type).map((message) => section(message.type, message.payload, 'output', message)),
    '## Topics',
    'Sent to those who subscribed, under the topic’s name.',
    ...byName(topics, ({ event }) => event.name).map((topic) => section(topic.event.name, topic.event.schema, 'output', topic)),
    ...(later.length > 0 ? ['## To come', 'Not sent or taken yet, because what they tell of is not built yet.', toCome(later)] : []),
  ]
  return `${parts.join('\n\n')}\n`
}
