import { z } from 'zod'

/** What of the browser's storage is needed; any of it may throw, as when storage is full or forbidden. */
export type DraftStorage = Pick<Storage, 'getItem' | 'setItem' | 'removeItem' | 'key' | 'length'>

/** Where the draft of a talk without an id yet is kept. */
export const NEW_TALK = 'new'

/** How many drafts are kept, and how many characters of one; beyond that the oldest draft, or a text's tail, is let go. */
export const DRAFT_LIMITS = { drafts: 40, characters: 100_000 }

const Stored = z.object({ text: z.string(), at: z.number() })

function stored(storage: DraftStorage, key: string) {
  try {
    return Stored.parse(JSON.parse(storage.getItem(key) ?? ''))
  } catch {
    return null
  }
}

/** Keys under `prefix`, the longest untouched first. What cannot be read counts as oldest. */
function keysByAge(storage: DraftStorage, prefix: string): string[] {
  const keys = Array.from({ length: storage.length }, (_, index) => storage.key(index)).filter((key) => key?.startsWith(prefix) === true)
  const ages = new Map(keys.map((key) => [key as string, stored(storage, key as string)?.at ?? 0]))
  return [...ages].sort((a, b) => a[1] - b[1]).map(([key]) => key)
}

/**
 * Unsent text by conversation: one stored entry each, so that two open windows do not undo one another's, and in memory
 * alone where the browser will not store it. `who` keeps people who share a browser apart.
 */
export function createDrafts(storage: DraftStorage, who: string, now: () => number = Date.now) {
  const prefix = `hearth.draft.${who}.`
  const unstored = new Map<string, string>()

  const makeRoom = () => {
    const kept = keysByAge(storage, prefix)
    for (const old of kept.slice(0, Math.max(0, kept.length + 1 - DRAFT_LIMITS.drafts))) storage.removeItem(old)
  }

  const store = (key: string, text: string) => {
    try {
      if (storage.getItem(key) === null) makeRoom()
      storage.setItem(key, JSON.stringify({ text: text.slice(0, DRAFT_LIMITS.characters), at: now() }))
      return true
    } catch {
      return false
    }
  }

  const forget = (key: string) => {
    try {
      storage.removeItem(key)
      return true
    } catch {
      return false
    }
  }

  return {
    read: (conversation: string): string => unstored.get(conversation) ?? stored(storage, prefix + conversation)?.text ?? '',
    /** Keeps `text`; blank text forgets the draft. Returns whether what was written survives a reload. */
    write(conversation: string, text: string): boolean {
      const key = prefix + conversation
      const survives = text.trim() === '' ? forget(key) : store(key, text)
      if (survives) unstored.delete(conversation)
      else unstored.set(conversation, text)
      return survives
    },
  }
}

export type Drafts = ReturnType<typeof createDrafts>
