import { expect, it } from 'vitest'
import { buttonsFor, placeOf, urgentFirst } from '../../renderer/features/notifications/notification-words.ts'
import { isSameKey, keyBytes } from '../../renderer/features/notifications/push-key.ts'

it('tells whether a browser was signed up with the key that the server has now', () => {
  const wanted = keyBytes('-_8B')
  expect([...wanted]).toEqual([251, 255, 1])
  expect(isSameKey(Uint8Array.of(251, 255, 1).buffer, wanted)).toBe(true)
  expect(isSameKey(Uint8Array.of(251, 255, 2).buffer, wanted)).toBe(false)
  expect(isSameKey(Uint8Array.of(251, 255).buffer, wanted)).toBe(false)
  expect(isSameKey(null, wanted)).toBe(false)
})

it('offers the buttons of to-dos to members alone, and none once it was read', () => {
  expect(buttonsFor({ category: 'REMINDER', status: 'delivered' }, true)).toEqual(['Mark Done', 'Snooze 15min'])
  expect(buttonsFor({ category: 'REMINDER', status: 'delivered' }, false)).toEqual([])
  expect(buttonsFor({ category: 'REMINDER', status: 'read' }, true)).toEqual([])
  expect(buttonsFor({ category: null, status: 'sent' }, true)).toEqual([])
})

it('leads to what a notification is about, where one may go there', () => {
  expect(placeOf({ data: { todoId: 'a' } }, true)).toBe('/todos')
  expect(placeOf({ data: { timerId: 'a' } }, true)).toBe('/timers')
  expect(placeOf({ data: { todoId: 'a' } }, false)).toBeNull()
  expect(placeOf({ data: { url: 'https://elsewhere.example' } }, true)).toBeNull()
  expect(placeOf({}, true)).toBeNull()
})

it('keeps what is critical before all that came later', () => {
  const levels = ['info', 'critical', 'warning', 'critical', 'info'] as const
  const came = levels.map((level, index) => ({ level, index }))
  expect(urgentFirst(came).map(({ index }) => index)).toEqual([1, 3, 0, 2, 4])
})
