import { DateTime, IANAZone } from 'luxon'
import type { Pace } from '../../kit/pace.ts'

const MINUTE_MS = 60_000
const WEEK_MS = 7 * 86_400_000
/** Changes of the clocks are written out for these years around now; clients that know the zone by its name go beyond. */
const YEARS = { before: 5, after: 10 }

const known = new Map<string, string>()

/** The minute at which the offset changes between two times. */
function changeWithin(zone: IANAZone, from: number, to: number): number {
  let [low, high] = [from, to]
  while (high - low > MINUTE_MS) {
    const middle = Math.floor((low + high) / 2 / MINUTE_MS) * MINUTE_MS
    if (zone.offset(middle) === zone.offset(low)) low = middle
    else high = middle
  }
  return high
}

const offsetText = (minutes: number) => {
  const size = Math.abs(Math.round(minutes))
  return `${minutes < 0 ? '-' : '+'}${String(Math.floor(size / 60)).padStart(2, '0')}${String(size % 60).padStart(2, '0')}`
}

function block(at: number | null, from: number, to: number): string {
  const start = at === null ? '19700101T000000' : DateTime.fromMillis(at + from * MINUTE_MS, { zone: 'utc' }).toFormat("yyyyMMdd'T'HHmmss")
  const kind = to > from ? 'DAYLIGHT' : 'STANDARD'
  return `BEGIN:${kind}\nDTSTART:${start}\nTZOFFSETFROM:${offsetText(from)}\nTZOFFSETTO:${offsetText(to)}\nEND:${kind}`
}

/** The VTIMEZONE of a zone (RFC 5545, 3.6.5). */
export async function vtimezone(name: string, pace: Pace): Promise<string> {
  const year = new Date().getUTCFullYear()
  const key = `${name} ${year}`
  const made = known.get(key)
  if (made) return made
  const zone = IANAZone.create(name)
  const end = Date.UTC(year + YEARS.after, 0)
  let at = Date.UTC(year - YEARS.before, 0)
  const blocks = [block(null, zone.offset(at), zone.offset(at))]
  for (let offset = zone.offset(at); at < end; at += WEEK_MS) {
    await pace()
    const before = offset
    offset = zone.offset(at + WEEK_MS)
    if (before === offset) continue
    const change = changeWithin(zone, at, at + WEEK_MS)
    blocks.push(block(change, before, zone.offset(change)))
  }
  const text = ['BEGIN:VTIMEZONE', `TZID:${name}`, ...blocks, 'END:VTIMEZONE'].join('\n')
  known.set(key, text)
  return text
}
