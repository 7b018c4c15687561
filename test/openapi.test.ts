import { afterAll, beforeAll, expect, test } from 'vitest'
import { api } from '../server/api.ts'
import type { EndpointSpec } from '../server/kit/endpoint.ts'
import { type House, startHouse } from './support/house.ts'

interface Document {
  openapi: string
  info: { title: string; version: string }
  paths: Record<string, Record<string, Operation>>
  components: { schemas: Record<string, unknown> }
}
interface Operation {
  operationId: string
  summary: string
  'x-access': string
  parameters: { name: string; in: string; required: boolean; schema: object }[]
  requestBody?: { required: boolean; content: Record<string, { schema: object }> }
  responses: Record<string, { description: string }>
}

let house: House
let document: Document
beforeAll(async () => {
  house = await startHouse()
  document = (await (await house.stranger().fetch('/api/openapi.json')).json()) as Document
})
afterAll(() => house[Symbol.asyncDispose]())

const declared = Object.entries(api).flatMap(([domain, contract]) =>
  (Object.entries(contract) as [string, EndpointSpec][]).map(([name, spec]) => ({ id: `${domain}.${name}`, spec })),
)

test('every declared endpoint is in the document, and nothing else', () => {
  const documented = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { operationId }]) => `${method.toUpperCase()} ${path} ${operationId}`),
  )
  expect(documented.sort()).toEqual(declared.map(({ id, spec }) => `${spec.method} ${spec.path} ${id}`).sort())
  expect(document.openapi).toBe('3.1.0')
})

test.each(declared)('$id tells who may call it, what it takes and what it answers', ({ spec }) => {
  const operation = document.paths[spec.path]?.[spec.method.toLowerCase()]
  expect(operation?.['x-access']).toBe(spec.access)
  expect(operation?.summary).toBe(spec.summary)
  const named = (place: string) => operation?.parameters.filter((parameter) => parameter.in === place).map(({ name }) => name)
  expect(named('path')).toEqual([...spec.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name))
  expect(named('query')).toEqual(Object.keys(spec.query?.shape ?? {}))
  expect(operation?.requestBody !== undefined).toBe(spec.body !== undefined)
  expect(Object.keys(operation?.responses ?? {}).some((status) => /^[23]/.test(status))).toBe(true)
})

test('every reference leads to a component', () => {
  const references = [...JSON.stringify(document).matchAll(/"\$ref":"([^"]+)"/g)].map(([, target = '']) => target)
  expect(references.length).toBeGreaterThan(0)
  const missing = references.filter((target) => !(target.replace('#/components/schemas/', '') in document.components.schemas))
  expect(missing).toEqual([])
})
