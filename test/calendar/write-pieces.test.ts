import { Writable } from 'node:stream'
import { expect, test } from 'vitest'
import { writePieces } from '../../server/modules/calendar/write-pieces.ts'

test('who leaves in the middle ends the writing without a fault, and what is not read is not made', async () => {
  const leaving = new AbortController()
  let made = 0
  let isClosed = false
  async function* pieces() {
    try {
      for (; made < 1_000; made += 1) yield 'x'.repeat(100)
    } finally {
      isClosed = true
    }
  }
  const stuck = new Writable({ highWaterMark: 1, write: () => void leaving.abort() })
  await writePieces(stuck, pieces(), leaving.signal)
  expect([made < 5, isClosed, stuck.writableEnded]).toEqual([true, true, false])
})

test('who reads slowly gets all of it', async () => {
  const read: string[] = []
  const slow = new Writable({
    highWaterMark: 1,
    decodeStrings: false,
    write: (piece, _encoding, then) => {
      read.push(piece as string)
      setImmediate(then)
    },
  })
  async function* pieces() {
    yield* ['a', 'b', 'c']
  }
  await writePieces(slow, pieces(), new AbortController().signal)
  expect([read, slow.writableEnded]).toEqual([['a', 'b', 'c'], true])
})
