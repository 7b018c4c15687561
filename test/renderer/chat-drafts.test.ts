import { describe, expect, it } from 'vitest'
import { createDrafts, DRAFT_LIMITS, type DraftStorage, NEW_TALK } from '../../renderer/features/chat/drafts.ts'

function createStorage(full: (key: string) => boolean = () => false): DraftStorage & { map: Map<string, string> } {
  const map = new Map<string, string>()
  return {
    map,
    getItem: (key) => map.get(key) ?? null,
    setItem(key, value) {
      if (full(key)) throw new Error('QuotaExceededError')
      map.set(key, value)
    },
    removeItem: (key) => void map.delete(key),
    key: (index) => [...map.keys()][index] ?? null,
    get length() {
      return map.size
    },
  }
}

describe('drafts', () => {
  it('survive a reload, each in its own conversation', () => {
    const storage = createStorage()
    const before = createDrafts(storage, 'ada')
    expect(before.write(NEW_TALK, 'half a thought')).toBe(true)
    before.write('one', 'another')
    const after = createDrafts(storage, 'ada')
    expect([after.read(NEW_TALK), after.read('one'), after.read('two')]).toEqual(['half a thought', 'another', ''])
  })

  it('keep people who share a browser apart', () => {
    const storage = createStorage()
    createDrafts(storage, 'ada').write(NEW_TALK, 'mine')
    expect(createDrafts(storage, 'grace').read(NEW_TALK)).toBe('')
  })

  it('do not undo what another window wrote', () => {
    const storage = createStorage()
    const [left, right] = [createDrafts(storage, 'ada'), createDrafts(storage, 'ada')]
    left.write('one', 'left')
    right.write('two', 'right')
    left.write('one', 'left again')
    const after = createDrafts(storage, 'ada')
    expect([after.read('one'), after.read('two')]).toEqual(['left again', 'right'])
  })

  it('leave nothing behind once sent', () => {
    const storage = createStorage()
    const drafts = createDrafts(storage, 'ada')
    drafts.write('one', 'text')
    drafts.write('one', '  ')
    expect(drafts.read('one')).toBe('')
    expect(storage.map.size).toBe(0)
  })

  it('let the oldest go beyond the limit, and touch nothing else in the storage', () => {
    const storage = createStorage()
    storage.map.set('theme', 'dark')
    let now = 0
    const drafts = createDrafts(storage, 'ada', () => now++)
    for (let index = 0; index < DRAFT_LIMITS.drafts; index++) drafts.write(`talk ${index}`, 'text')
    drafts.write('talk 0', 'text, touched')
    drafts.write('one more', 'text')
    expect(drafts.read('talk 1')).toBe('')
    expect(drafts.read('talk 0')).toBe('text, touched')
    expect(drafts.read('talk 2')).toBe('text')
    expect(storage.map.size).toBe(DRAFT_LIMITS.drafts + 1)
    expect(storage.map.get('theme')).toBe('dark')
  })

  it('bound the length of one', () => {
    const drafts = createDrafts(createStorage(), 'ada')
    drafts.write('one', 'x'.repeat(DRAFT_LIMITS.characters + 1))
    expect(drafts.read('one')).toHaveLength(DRAFT_LIMITS.characters)
  })

  it('stay in memory where nothing can be stored, and say so', () => {
    const drafts = createDrafts(
      createStorage(() => true),
      'ada',
    )
    expect(drafts.write('one', 'text')).toBe(false)
    expect(drafts.read('one')).toBe('text')
  })

  it('start empty over what cannot be read', () => {
    const storage = createStorage()
    storage.map.set('hearth.draft.ada.one', '{"text":7}')
    storage.map.set('hearth.draft.ada.two', 'no JSON')
    const drafts = createDrafts(storage, 'ada')
    expect([drafts.read('one'), drafts.read('two')]).toEqual(['', ''])
    expect(drafts.write('one', 'new')).toBe(true)
  })
})
