import { expect, test } from 'vitest'
import { tornLogs } from '../support/torn-log.ts'

test('a log cut off or damaged at a thousand places always gives a beginning of what was committed', async () => {
  expect(await tornLogs(1_000)).toEqual([])
})
