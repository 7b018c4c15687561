import { z } from 'zod'

/** A JSON Schema, as far as the page shows it. */
export interface Schema {
  $ref?: string | undefined
  type?: string | string[] | undefined
  format?: string | undefined
  description?: string | undefined
  enum?: unknown[] | undefined
  const?: unknown
  properties?: Record<string, Schema> | undefined
  required?: string[] | undefined
  items?: Schema | undefined
  additionalProperties?: Schema | boolean | undefined
  anyOf?: Schema[] | undefined
  oneOf?: Schema[] | undefined
  allOf?: Schema[] | undefined
}

const Schema: z.ZodType<Schema> = z.lazy(() =>
  z.looseObject({
    $ref: z.string().optional(),
    type: z.union([z.string(), z.array(z.string())]).optional(),
    format: z.string().optional(),
    description: z.string().optional(),
    enum: z.array(z.unknown()).optional(),
    const: z.unknown().optional(),
    properties: z.record(z.string(), Schema).optional(),
    required: z.array(z.string()).optional(),
    items: Schema.optional(),
    additionalProperties: z.union([z.boolean(), Schema]).optional(),
    anyOf: z.array(Schema).optional(),
    oneOf: z.array(Schema).optional(),
    allOf: z.array(Schema).optional(),
  }),
)

const Content = z.record(z.string(), z.object({ schema: Schema.optional() })).optional()
const Operation = z.object({
  operationId: z.string().optional(),
  tags: z.array(z.string()).default([]),
  summary: z.string().default(''),
  description: z.string().optional(),
  parameters: z
    .array(z.object({ name: z.string(), in: z.string(), required: z.boolean().optional(), schema: Schema.optional() }))
    .default([]),
  requestBody: z.object({ content: Content }).optional(),
  responses: z.record(z.string(), z.object({ description: z.string().default(''), content: Content })).default({}),
})
const Document = z.object({
  info: z.object({ version: z.string() }),
  paths: z.record(z.string(), z.record(z.string(), Operation)),
  components: z.object({ schemas: z.record(z.string(), Schema).default({}) }),
})

export interface Endpoint extends z.output<typeof Operation> {
  id: string
  method: string
  path: string
}

export interface ApiDocument {
  version: string
  endpoints: Endpoint[]
  schemas: [name: string, schema: Schema][]
}

/** Reads `/api/openapi.json`; throws where it is not such a document. */
export function readDocument(json: unknown): ApiDocument {
  const { info, paths, components } = Document.parse(json)
  const endpoints = Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, operation]) => ({ ...operation, id: `${method}${path}`, method: method.toUpperCase(), path })),
  )
  const schemas = Object.entries(components.schemas).sort(([a], [b]) => a.localeCompare(b))
  return { version: info.version, endpoints, schemas }
}

/** Endpoints by their first tag, in the order of the document. */
export function byArea(endpoints: Endpoint[]): [area: string, endpoints: Endpoint[]][] {
  const areas = new Map<string, Endpoint[]>()
  for (const endpoint of endpoints) {
    const [area = ''] = endpoint.tags
    areas.set(area, [...(areas.get(area) ?? []), endpoint])
  }
  return [...areas]
}

/** Whether every word typed is somewhere in the endpoint. */
export function fits({ method, path, summary, description = '', tags }: Endpoint, query: string): boolean {
  const text = `${method} ${path} ${summary} ${description} ${tags.join(' ')}`.toLowerCase()
  return query
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word))
}

/** A tag as a heading: `pairedDevices` becomes “Paired devices”. */
export function areaName(tag: string): string {
  const words = tag
    .replaceAll(/([A-Z])/g, ' $1')
    .toLowerCase()
    .trim()
  return words.charAt(0).toUpperCase() + words.slice(1)
}
