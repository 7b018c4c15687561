import type { PlainKey } from '../../messages/messages.ts'

export interface Group<Entry> {
  label: PlainKey
  entries: Entry[]
}

const DAY_MS = 86_400_000

function labelOf(updatedAt: string, today: number): PlainKey {
  const at = Date.parse(updatedAt)
  if (at >= today) return 'chat.today'
  if (at >= today - DAY_MS) return 'chat.yesterday'
  return at >= today - 6 * DAY_MS ? 'chat.thisWeek' : 'chat.earlier'
}

/** Entries that are newest first, under headings by the day of their last change in the reader's own time zone. */
export function groupByDay<Entry extends { updatedAt: string }>(entries: Entry[], now = new Date()): Group<Entry>[] {
  const today = new Date(now.getFullYear(), now.getMonth(), now.getDate()).getTime()
  const groups: Group<Entry>[] = []
  for (const entry of entries) {
    const label = labelOf(entry.updatedAt, today)
    const last = groups.at(-1)
    if (last?.label === label) last.entries.push(entry)
    else groups.push({ label, entries: [entry] })
  }
  return groups
}
