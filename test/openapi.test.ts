import { expect, test } from 'vitest'
import { z } from 'zod'
import { api } from '../server/api.ts'
import { type EndpointSpec, endpoint, nothing } from '../server/kit/endpoint.ts'
import { openApi } from '../server/kit/openapi.ts'
import { startHouse } from './support/house.ts'

const Schema = z.record(z.string(), z.unknown())
const Content = z.record(z.string().regex(/^[a-z]+\/[a-z.+-]+$/), z.strictObject({ schema: Schema }))
const Operation = z.strictObject({
  operationId: z.string(),
  tags: z.array(z.string()).length(1),
  summary: z.string().min(3),
  description: z.string(),
  'x-access': z.enum(['public', 'lan', 'webhook', 'guest', 'member', 'admin', 'owner']),
  security: z.array(z.record(z.string(), z.tuple([]))),
  parameters: z.array(z.strictObject({ name: z.string(), in: z.enum(['path', 'query']), required: z.boolean(), schema: Schema })),
  requestBody: z.strictObject({ required: z.boolean(), content: Content }).optional(),
  responses: z.record(z.string().regex(/^[1-5]\d\d$/), z.strictObject({ description: z.string().min(1), content: Content.optional() })),
})
/** What of OpenAPI 3.1 this server uses; anything else is a mistake. */
const Document = z.strictObject({
  openapi: z.literal('3.1.0'),
  info: z.strictObject({ title: z.string(), version: z.string(), description: z.string() }),
  paths: z.record(z.string().regex(/^\/(api\/|v1\/|mcp$)/), z.partialRecord(z.enum(['get', 'post', 'put', 'patch', 'delete']), Operation)),
  components: z.strictObject({
    schemas: z.record(z.string().regex(/^[\w.-]+$/), Schema),
    securitySchemes: z.record(z.string(), z.looseObject({ type: z.enum(['http', 'apiKey']) })),
  }),
})

const document = Document.parse(JSON.parse(JSON.stringify(openApi(api, '1.2.3'))))
const endpoints = Object.entries(api).flatMap(([tag, contract]) =>
  Object.entries(contract as Record<string, EndpointSpec>).map(([name, spec]) => ({ tag, name, spec })),
)
const operationOf = ({ method, path }: EndpointSpec) => document.paths[path]?.[method.toLowerCase() as 'get']
const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.values(methods).map((operation) => ({ path, operation })),
)

/** Every object in the document, with where it is. */
function* objectsIn(value: unknown, at = '#'): Generator<[at: string, Record<string, unknown>]> {
  if (Array.isArray(value)) for (const [index, item] of value.entries()) yield* objectsIn(item, `${at}/${index}`)
  else if (value !== null && typeof value === 'object') {
    yield [at, value as Record<string, unknown>]
    for (const [key, item] of Object.entries(value)) yield* objectsIn(item, `${at}/${key}`)
  }
}

test('every endpoint that the server declares is in the document, and nothing else is', () => {
  expect(endpoints.filter(({ spec }) => !operationOf(spec)).map(({ spec }) => `${spec.method} ${spec.path}`)).toEqual([])
  expect(operations).toHaveLength(endpoints.length)
  expect(new Set(operations.map(({ operation }) => operation.operationId)).size).toBe(endpoints.length)
  for (const { tag, name, spec } of endpoints) {
    expect(operationOf(spec)).toMatchObject({ operationId: `${tag}.${name}`, tags: [tag], summary: spec.summary, 'x-access': spec.access })
  }
})

test('the server answers with it, to anybody', async () => {
  await using house = await startHouse()
  const answer = await house.stranger().fetch('/api/openapi.json')
  expect(answer.status).toBe(200)
  const served = Document.parse(await answer.json())
  expect(served).toEqual({ ...document, info: { ...document.info, version: served.info.version } })
  expect(served.info.version).toMatch(/^\d+\.\d+\.\d+/)
})

test('every reference leads somewhere, and every component is referred to', () => {
  const refs = [...objectsIn(document)].flatMap(([at, { $ref }]) => (typeof $ref === 'string' ? [{ at, $ref }] : []))
  expect(refs.length).toBeGreaterThan(10)
  const names = Object.keys(document.components.schemas)
  expect(refs.filter(({ $ref }) => !names.includes($ref.replace('#/components/schemas/', '')))).toEqual([])
  expect(names.filter((name) => !refs.some(({ $ref }) => $ref === `#/components/schemas/${name}`))).toEqual([])
})

test('parameters are those of the path and of the declared query', () => {
  for (const { path, operation } of operations) {
    const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name)
    const declared = operation.parameters.filter((parameter) => parameter.in === 'path')
    expect(
      declared.map(({ name }) => name),
      path,
    ).toEqual(inPath)
    expect(
      declared.every(({ required }) => required),
      path,
    ).toBe(true)
  }
  for (const { spec } of endpoints) {
    const query = operationOf(spec)?.parameters.filter((parameter) => parameter.in === 'query') ?? []
    expect(
      query.map(({ name }) => name),
      spec.path,
    ).toEqual(Object.keys(spec.query?.shape ?? {}))
  }
  const search = document.paths['/api/chat/conversations/search']?.get?.parameters
  expect(search).toMatchObject([
    { name: 'q', required: true },
    { name: 'limit', required: false },
  ])
})

test('bodies, answers and credentials are told as they are', () => {
  for (const { spec } of endpoints) {
    const operation = operationOf(spec)
    expect(operation?.requestBody !== undefined, spec.path).toBe(spec.body !== undefined)
    expect(operation?.security.length === 0, spec.path).toBe(['public', 'lan', 'webhook'].includes(spec.access))
    for (const status of ['400', '401', '403', '429'])
      expect(operation?.responses[status]?.content?.['application/json']?.schema, spec.path).toEqual({ $ref: '#/components/schemas/Error' })
    const succeeded = Object.keys(operation?.responses ?? {}).filter((status) => Number(status) < 400)
    expect(succeeded, spec.path).toHaveLength(1)
    if (spec.kind !== 'stream')
      expect(succeeded, spec.path).toEqual([String(spec.status ?? (spec.returns instanceof z.ZodVoid ? 204 : 200))])
  }
  expect(document.paths['/api/chat']?.post?.responses['200']?.content).toHaveProperty(['text/event-stream'])
})

test('schemas are JSON Schema: known types, required fields that exist, nothing of the validator’s own', () => {
  const types = ['string', 'number', 'integer', 'boolean', 'object', 'array', 'null']
  for (const [at, schema] of [...objectsIn(document)]
    .filter(([place]) => /\/(schema|schemas\/[\w.-]+)$/.test(place))
    .flatMap(([place, root]) => [...objectsIn(root, place)])) {
    if (at.endsWith('/properties')) continue
    if (schema.type !== undefined) expect(types, at).toEqual(expect.arrayContaining([schema.type].flat()))
    if (schema.properties !== undefined && schema.required !== undefined) {
      expect(Object.keys(schema.properties as object), at).toEqual(expect.arrayContaining(schema.required as string[]))
    }
    for (const word of ['$defs', '$schema', 'id', '~standard', '_zod']) expect(Object.keys(schema), at).not.toContain(word)
  }
})

test('uploads, bodies that may be left out and named schemas within schemas are written down right', () => {
  const Lamp = z.object({ id: z.string() }).meta({ id: 'Lamp' })
  const Room = z.object({ lamps: z.array(Lamp), main: Lamp }).meta({ id: 'Room' })
  const contract = {
    paint: endpoint({
      method: 'POST',
      path: '/api/rooms/{id}',
      access: 'member',
      summary: 'Paint',
      params: z.object({ id: z.string() }),
      body: z.strictObject({ colour: z.string() }),
      returns: Room,
      kind: 'upload',
      status: 201,
    }),
    air: endpoint({
      method: 'PUT',
      path: '/api/rooms/{id}',
      access: 'member',
      summary: 'Air',
      params: z.object({ id: z.string() }),
      body: z.strictObject({ minutes: z.number().optional() }).default({}),
      returns: nothing,
    }),
  }
  const made = Document.parse(openApi({ rooms: contract }, '1'))
  const { post, put } = made.paths['/api/rooms/{id}'] ?? {}
  expect(post?.requestBody).toMatchObject({ required: true, content: { 'multipart/form-data': { schema: { required: ['colour'] } } } })
  expect(post?.responses['201']?.content?.['application/json']?.schema).toEqual({ $ref: '#/components/schemas/Room' })
  expect(made.components.schemas.Room).toMatchObject({
    properties: { lamps: { items: { $ref: '#/components/schemas/Lamp' } }, main: { $ref: '#/components/schemas/Lamp' } },
  })
  expect(put?.requestBody?.required).toBe(false)
  expect(put?.responses['204']).toEqual({ description: 'Done' })
})
