import { DateTime } from 'luxon'

/** No clock is set by more in one go, as far as it is set back at all. */
const LONGEST_MS = 3 * 3_600_000

/**
 * The first of the two moments at which the clock on the wall shows the same where it is set back (RFC 5545, 3.3.5), else the same moment.
 * For times that somebody wrote or said; a moment that was given with its offset is meant as it is.
 */
export function firstPass(moment: DateTime): DateTime {
  const { zone, offset } = moment
  const at = moment.toMillis()
  const before = zone.offset(at - LONGEST_MS)
  if (!(before > offset)) return moment
  const first = at - (before - offset) * 60_000
  return zone.offset(first) === before ? moment.minus(at - first) : moment
}

/** A written time, which without an offset is one of `zone`. */
export const writtenTime = (text: string, zone: string): DateTime =>
  firstPass(DateTime.fromISO(text, { zone, setZone: true })).setZone(zone)
