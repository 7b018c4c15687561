import { create } from 'qrcode'
import { expect, test } from 'vitest'
import { schemaText } from '../../renderer/features/docs/schema-text.ts'
import { browserName } from '../../renderer/features/settings/browser-name.ts'
import { arrowDistance } from '../../renderer/shell/arrow-focus.ts'
import { qrPath } from '../../renderer/ui/qr-path.ts'

/** Paints a path of rectangles back into modules. */
function painted(path: string, size: number): boolean[][] {
  const grid = Array.from({ length: size }, () => Array.from({ length: size }, () => false))
  for (const [, column, row, width] of path.matchAll(/M(\d+) (\d+)h(\d+)v1H\1z/g))
    grid[Number(row)]?.fill(true, Number(column), Number(column) + Number(width))
  return grid
}

test('a QR path paints exactly the dark modules', () => {
  const { modules } = create('http://192.0.2.7:7420/pair#d=abc', { errorCorrectionLevel: 'M' })
  const isDark = (row: number, column: number) => modules.get(row, column) === 1
  const grid = painted(qrPath(modules.size, isDark), modules.size)
  expect(grid).toEqual(grid.map((line, row) => line.map((_, column) => isDark(row, column))))
  expect(grid.flat().filter(Boolean).length).toBeGreaterThan(100)
})

const box = (left: number, top: number, width = 100, height = 40) =>
  ({ left, top, width, height, right: left + width, bottom: top + height }) as DOMRect

test('an arrow prefers what lies straight ahead and ignores what lies behind', () => {
  const from = box(0, 0)
  expect(arrowDistance(from, box(0, 100), 'down')).toBe(60)
  expect(arrowDistance(from, box(300, 50), 'down')).toBeGreaterThan(60)
  expect(arrowDistance(from, box(0, -100), 'down')).toBeNull()
  expect(arrowDistance(from, box(-200, 0), 'left')).toBe(100)
  expect(arrowDistance(from, box(-110, 60), 'left')).toBeGreaterThan(arrowDistance(from, box(-1900, 0), 'left') ?? 0)
})

test('a schema reads like a type', () => {
  const schema = {
    type: 'object',
    required: ['id', 'kind'],
    properties: {
      id: { type: 'string', format: 'uuid' },
      kind: { enum: ['a', 'b'], description: 'Which one.' },
      parts: { type: 'array', items: { $ref: '#/components/schemas/Part' } },
      note: { anyOf: [{ type: 'string' }, { type: 'null' }] },
    },
  }
  expect(schemaText(schema)).toBe(
    '{\n  id: string (uuid)\n  kind: "a" | "b"  // Which one.\n  parts?: Array<Part>\n  note?: string | null\n}',
  )
})

test.each([
  ['Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0', 'Firefox on Linux'],
  ['Mozilla/5.0 (Windows NT 10.0) AppleWebKit/537.36 Chrome/140.0 Safari/537.36 Edg/140.0', 'Edge on Windows'],
  ['Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) Version/18.0 Safari/604.1', 'Safari on iPhone'],
  ['curl/8.5.0', 'A browser'],
])('%s is called %s', (userAgent, name) => {
  expect(browserName(userAgent)).toBe(name)
})
