import { setImmediate as turn } from 'node:timers/promises'
import { expect, test, vi } from 'vitest'
import { z } from 'zod'
import { createEventBus, event } from '../../server/kit/events.ts'

const lampSwitched = event('lamp.switched', z.object({ id: z.string(), level: z.number().default(100) }))
const lampSold = event('lamp.sold', z.object({ id: z.string() }))

test('every listener of an event hears it, parsed, after the turn it was published in', async () => {
  const bus = createEventBus(vi.fn())
  const heard: unknown[] = []
  bus.on(lampSwitched, (data) => void heard.push(['first', data]))
  bus.on(lampSwitched, async (data) => void heard.push(['second', data]))
  bus.on(lampSold, (data) => void heard.push(data))
  bus.publish(lampSwitched, { id: 'a' })
  expect(heard).toEqual([])
  await turn()
  expect(heard).toEqual([
    ['first', { id: 'a', level: 100 }],
    ['second', { id: 'a', level: 100 }],
  ])
})

test('a listener that throws, now or later, is reported and keeps it from nobody else', async () => {
  const report = vi.fn()
  const bus = createEventBus(report)
  const heard = vi.fn()
  bus.on(lampSold, () => {
    throw new Error('now')
  })
  bus.on(lampSold, async () => {
    await turn()
    throw new Error('later')
  })
  bus.on(lampSold, heard)
  bus.publish(lampSold, { id: 'a' })
  await turn()
  await turn()
  expect(heard).toHaveBeenCalledExactlyOnceWith({ id: 'a' })
  expect(report.mock.calls).toEqual([
    [new Error('now'), 'lamp.sold'],
    [new Error('later'), 'lamp.sold'],
  ])
})

test('who unsubscribed hears nothing more, and what a listener publishes arrives too', async () => {
  const bus = createEventBus(vi.fn())
  const heard: string[] = []
  const off = bus.on(lampSwitched, ({ id }) => void heard.push(`switched ${id}`))
  bus.on(lampSold, ({ id }) => bus.publish(lampSwitched, { id: `${id} again` }))
  bus.publish(lampSold, { id: 'a' })
  await turn()
  off()
  off()
  bus.publish(lampSwitched, { id: 'b' })
  await turn()
  expect(heard).toEqual(['switched a again'])
})

test('data that is not of the event is refused to the publisher', () => {
  const bus = createEventBus(vi.fn())
  expect(() => bus.publish(lampSold, { id: 7 } as never)).toThrow(z.ZodError)
})
