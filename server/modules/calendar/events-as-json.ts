import type { Pace } from '../../kit/pace.ts'
import { CalendarEvent } from './calendar.contract.ts'

/** Handed on in one piece, unless one event is longer. */
const PIECE = 65_536

/** A list as JSON, piece by piece: the notes of two thousand events are many megabytes. */
export async function* eventsAsJson(events: readonly CalendarEvent[], pace: Pace): AsyncGenerator<string> {
  let piece = '['
  for (const [at, event] of events.entries()) {
    await pace()
    piece += `${at === 0 ? '' : ','}${JSON.stringify(CalendarEvent.parse(event))}`
    if (piece.length < PIECE) continue
    yield piece
    piece = ''
  }
  yield `${piece}]`
}
