/** Why a text is no calendar that can be shown; the message completes “this calendar …”. */
export class IcsError extends Error {}

const MAX_LINE = 32_768
const MAX_BLOCKS = 20_000
/** What is read of an event. */
const PROPERTY =
  /^(UID|SUMMARY|DESCRIPTION|LOCATION|DTSTART|DTEND|DURATION|RRULE|RDATE|EXDATE|RECURRENCE-ID|STATUS|SEQUENCE|TZID|X-LIC-LOCATION)(?=[;:])/i

/** An event’s lines by property, unfolded. */
export type Block = Map<string, string[]>

export interface Blocks {
  events: Block[]
  /** What a zone that only this calendar knows is called elsewhere, where it says so. */
  zones: Map<string, string>
}

const textAfterColon = (line: string | undefined) => line?.slice(line.indexOf(':') + 1).trim() ?? ''

/** The lines of a text without the folding (RFC 5545, 3.1); what exceeds a sane length is cut. */
function* unfolded(text: string): Generator<string> {
  let line: string | undefined
  for (let at = 0; at < text.length; ) {
    const end = text.indexOf('\n', at)
    const next = text.slice(at, Math.min(end < 0 ? text.length : end, at + MAX_LINE)).replace(/\r$/, '')
    at = end < 0 ? text.length : end + 1
    if (line !== undefined && (next.startsWith(' ') || next.startsWith('\t'))) {
      if (line.length < MAX_LINE) line += next.slice(1)
      continue
    }
    if (line !== undefined) yield line
    line = next
  }
  if (line !== undefined) yield line
}

/** Takes a calendar apart, so that one broken event does not spoil the rest. Throws {@link IcsError}. */
export function blocksOf(text: string): Blocks {
  const found: Blocks = { events: [], zones: new Map() }
  const open: { name: string; block: Block }[] = []
  let isCalendar = false
  for (const line of unfolded(text)) {
    const mark = /^(BEGIN|END):\s*([\w-]{1,50})\s*$/i.exec(line)
    const name = mark?.[2]?.toUpperCase() ?? ''
    if (mark?.[1]?.toUpperCase() === 'BEGIN') {
      isCalendar ||= name === 'VCALENDAR'
      if (open.length < 10) open.push({ name, block: new Map() })
    } else if (mark && open.at(-1)?.name === name) {
      const { block } = open.pop() as { block: Block }
      if (name === 'VEVENT') found.events.push(block)
      if (name === 'VTIMEZONE') found.zones.set(textAfterColon(block.get('TZID')?.[0]), textAfterColon(block.get('X-LIC-LOCATION')?.[0]))
      if (found.events.length > MAX_BLOCKS) throw new IcsError('has too many events')
    } else if (!mark) {
      const property = PROPERTY.exec(line)?.[1]?.toUpperCase()
      const block = open.at(-1)?.block
      if (property && block) block.set(property, [...(block.get(property) ?? []).slice(0, 500), line])
    }
  }
  if (!isCalendar) throw new IcsError('is not in the iCalendar format')
  return found
}
