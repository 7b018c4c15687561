import { expect, test } from 'vitest'
import { differing, meeting } from '../../renderer/ui/differing.ts'

const before = { title: 'Bread', notes: '', due: { day: '2026-11-24', time: '' } }

test('only what is otherwise differs', () => {
  expect(differing(before, structuredClone(before))).toEqual({})
  expect(differing(before, { ...before, notes: 'rye' })).toEqual({ notes: 'rye' })
  expect(differing(before, { ...before, due: { day: '2026-11-24', time: '09:00' } })).toEqual({ due: { day: '2026-11-24', time: '09:00' } })
})

test('what only others changed is taken, what both changed clashes unless they agree', () => {
  const meet = (mine: Partial<typeof before>, theirs: Partial<typeof before>) =>
    meeting(before, { ...before, ...mine }, { ...before, ...theirs })
  expect(meet({ title: 'Rolls' }, { notes: 'rye' })).toEqual({ taken: ['notes'], clashing: [] })
  expect(meet({ title: 'Rolls' }, { title: 'Cake', notes: 'rye' })).toEqual({ taken: ['notes'], clashing: ['title'] })
  expect(meet({ title: 'Cake' }, { title: 'Cake' })).toEqual({ taken: [], clashing: [] })
  expect(meet({ title: 'Rolls', notes: 'rye' }, {})).toEqual({ taken: [], clashing: [] })
})
