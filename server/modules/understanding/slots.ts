import type { DateTime } from 'luxon'
import type { Duration } from './durations.ts'
import type { Capture } from './matcher.ts'
import { convert } from './measures.ts'
import { decide, type Moment, type Purpose } from './moments.ts'
import type { Named } from './names.ts'
import type { Period } from './periods.ts'
import type { ListName, Readers } from './readers.ts'
import { fold } from './tokens.ts'
import type { UnderstandingContext } from './understood.ts'
import type { When } from './whens.ts'

type Slots = Record<string, unknown>

export interface SlotHelp {
  context: UnderstandingContext
  now: DateTime
  readers: Readers
  /** Splits a text into the things it lists. */
  itemsOf(text: string): string[]
  /** Whether the things of a list are tasks, in whose words `and` may stand. */
  isTaskList(list: string | null): boolean
  wordsOf(text: string): string[]
  /** What was said from one word up to another. */
  said(from: number, to: number): string
  /** Whether a question mark ends it. */
  isAsked: boolean
  /** Whether a minus stands before the number at a word. */
  isNegative(at: number): boolean
}

const MAX_TIMER_MS = 366 * 24 * 3_600_000
const NAMED = new Set(['plug', 'box', 'camera', 'person', 'about'])

const iso = (moment: DateTime) => moment.toUTC().toISO() ?? ''

/** What was captured, in plain values: names become `…Id` and name, durations milliseconds. */
function plain(captures: readonly Capture[]): Slots {
  const slots: Slots = {}
  for (const { as, value } of captures) {
    if (NAMED.has(as)) {
      const { id, name } = value as Named
      slots[as] = name
      slots[`${as}Id`] = id
    } else if (as === 'area') slots.area = (value as Named).name
    else if (as === 'list') slots.list = (value as ListName).name
    else if (as === 'duration') slots.durationMs = (value as Duration).ms
    else if (as === 'of') slots.ofMs = (value as Duration).ms
    else slots[as] = value
  }
  return slots
}

/** All that was said about when, wherever it stood; null where two of it contradict or it is long over. */
function moment(slots: Slots, { now }: SlotHelp, purpose: Purpose): Moment | null | undefined {
  const spoken = [slots.when, slots.then].filter((when) => when !== undefined) as When[]
  if (spoken.length === 0) return undefined
  const [first, second] = spoken as [When, When?]
  const whole = second ? { ...first, ...second } : first
  if (second && Object.keys(whole).length < Object.keys(first).length + Object.keys(second).length) return null
  const decided = decide(whole, now, purpose)
  return decided?.at.isValid ? decided : null
}

function reminder(slots: Slots, help: SlotHelp): Slots | null {
  const { when: _, then: __, who, ...rest } = slots
  const decided = moment(slots, help, 'reminder')
  if (decided === null || (decided && decided.at <= help.now && !decided.recurrence)) return null
  const { speaker } = help.context
  const person = who === 'me' && speaker ? { personId: speaker.id, person: speaker.name } : {}
  const title = String(rest.title ?? '')
  if (title === '') return null
  return {
    ...rest,
    ...person,
    ...(who !== undefined && { who }),
    title,
    ...(decided && {
      remindAt: iso(decided.at),
      dueAt: iso(decided.at),
      timed: decided.timed,
      ...(decided.recurrence && { recurrence: decided.recurrence }),
    }),
  }
}

/** A time alone, for what was put down before it. */
function whenOnly(slots: Slots, help: SlotHelp): Slots | null {
  const decided = moment(slots, help, 'reminder')
  if (!decided || (decided.at <= help.now && !decided.recurrence)) return null
  return { remindAt: iso(decided.at), timed: decided.timed, ...(decided.recurrence && { recurrence: decided.recurrence }) }
}

/** Where no calendar was spoken of, a day alone does not make an event. */
function eventAdd({ bare, titled, ...slots }: Slots, help: SlotHelp, captures: readonly Capture[]): Slots | null {
  const { when: _, then: __, ...rest } = slots
  // `a meeting with the teacher` is called so
  const [first, title] = [captures.find(({ as }) => as === 'titled'), captures.find(({ as }) => as === 'title')]
  if (first && title) rest.title = help.said(first.start, title.end)
  const decided = moment(slots, help, 'event')
  if (!decided || (bare && !decided.timed && !decided.recurrence)) return null
  return {
    ...rest,
    startAt: iso(decided.at),
    allDay: !decided.timed,
    ...(decided.until && { endAt: iso(decided.timed ? decided.until : decided.until.plus({ days: 1 })) }),
    ...(decided.recurrence && { recurrence: decided.recurrence }),
  }
}

function alarm({ hour, ...slots }: Slots, help: SlotHelp): Slots | null {
  if (typeof hour === 'number' && !(Number.isInteger(hour) && hour >= 0 && hour <= 24)) return null
  const { when: _, then: __, ...rest } = slots
  // `set alarm 6`
  const clock = typeof hour === 'number' ? { when: { clock: { hour: hour % 24, minute: 0, open: hour > 0 && hour <= 12 } } } : {}
  const decided = moment({ ...slots, ...clock }, help, 'alarm')
  if (!decided) return decided === undefined ? rest : null
  if (!decided.timed || (decided.at <= help.now && !decided.recurrence)) return null
  return { ...rest, endsAt: iso(decided.at), ...(decided.recurrence && { recurrence: decided.recurrence }) }
}

/** Which event is meant, on its day where one was said. */
function eventRemove(slots: Slots, help: SlotHelp): Slots | null {
  const { when: _, then: __, ...rest } = slots
  const decided = moment(slots, help, 'event')
  if (decided === null) return null
  const day = decided?.at.startOf('day')
  return day ? { ...rest, from: iso(day), to: iso(day.plus({ days: 1 })) } : rest
}

const two = (value: number) => String(value).padStart(2, '0')

/** To which day or time of day; what was not said stays, and how long it lasts always does. */
function eventMove(slots: Slots, help: SlotHelp): Slots | null {
  const { when, ...rest } = slots
  const { day, clock, partOfDay, recurrence, inTime, lasts } = (when ?? {}) as When
  if (recurrence || inTime || lasts || (!day && !clock && partOfDay === undefined)) return null
  const decided = moment(slots, help, 'event')
  if (!decided) return null
  const isTimed = clock !== undefined || partOfDay !== undefined
  return {
    ...rest,
    ...(day && { day: decided.at.toISODate() }),
    ...(isTimed && { time: `${two(decided.at.hour)}:${two(decided.at.minute)}` }),
  }
}

/** Which alarm is meant, where a time of day was said. */
function alarmMeant(slots: Slots, help: SlotHelp): Slots | null {
  const { when: _, then: __, ...rest } = slots
  const decided = moment(slots, help, 'alarm')
  if (decided === undefined) return rest
  return decided?.timed ? { ...rest, at: iso(decided.at) } : null
}

function play(slots: Slots, { context: { names }, readers, wordsOf }: SlotHelp): Slots | null {
  const { query, kind } = slots
  if (typeof query !== 'string') return slots
  const words = wordsOf(query)
  const playlist = kind === undefined || kind === 'playlist' ? readers.lookUp(names.playlists, words) : null
  const song = kind === undefined || kind === 'song' ? readers.lookUp(names.songs, words) : null
  return { ...slots, ...(song ? { songId: song.id, song: song.name } : playlist && { playlistId: playlist.id, playlist: playlist.name }) }
}

function listItems(slots: Slots, help: SlotHelp): Slots | null {
  const text = String(slots.items ?? '')
  const named = typeof slots.newList === 'string' ? slots.newList : (slots.list as string | null | undefined)
  const list = named === undefined ? help.readers.shoppingList(help.context.names.lists) : named
  const items = help.isTaskList(list) ? [text] : help.itemsOf(text)
  if (items.length === 0 || items.length > 40 || items.every((item) => help.readers.isNumber(help.wordsOf(item)))) return null
  return { items, list }
}

/** `remember my locker is 212`: all from `my` on. */
function remember(slots: Slots, help: SlotHelp, captures: readonly Capture[]): Slots | null {
  const [first, last] = [captures[0], captures.at(-1)]
  const { loose, ...rest } = slots
  if (loose && help.isAsked) return null
  if (slots.content !== undefined || !first || !last) return rest
  return { content: help.said(first.as === 'about' ? first.start : first.start - 1, last.end) }
}

/** `actually the boiler code is 9999`: as a sentence of its own, but for `it is 9999`, whose subject was spoken of before. */
function correct(slots: Slots, help: SlotHelp, captures: readonly Capture[]): Slots {
  const about = captures.find(({ as }) => as === 'subject')
  const { value } = slots
  if (!about) return { value }
  const named = captures.find(({ as }) => as === 'about')
  const subject = help.said(named?.start ?? about.start - 1, about.end)
  return { subject, content: `${subject} ${String(slots.verb ?? 'is')} ${String(value)}` }
}

/** `tell Ben dinner is ready`: all behind the name. */
function tell({ what: _, rest: __, ...slots }: Slots, help: SlotHelp, captures: readonly Capture[]): Slots {
  const [first, last] = [captures.find(({ as }) => as === 'what'), captures.find(({ as }) => as === 'rest')]
  return first && last ? { ...slots, message: help.said(first.start, last.end) } : slots
}

/** Something on a list; what is listed with `and` is several things there, but for tasks. */
function listItem(slots: Slots, help: SlotHelp): Slots {
  const { newList, anywhere, ...rest } = slots
  if (anywhere) return { ...rest, items: [slots.item] }
  const named = newList ?? slots.list
  const list = named === undefined ? help.readers.shoppingList(help.context.names.lists) : (named as string | null)
  return { ...rest, list, items: help.isTaskList(list) ? [slots.item] : help.itemsOf(String(slots.item ?? '')) }
}

const withinReach = (slots: Slots) =>
  typeof slots.durationMs !== 'number' || (slots.durationMs >= 1_000 && slots.durationMs <= MAX_TIMER_MS)
const isNegative = (captures: readonly Capture[], help: SlotHelp) =>
  captures.some(({ as, start }) => as === 'duration' && help.isNegative(start))
const isLevel = (level: unknown) => typeof level === 'number' && level >= 0 && level <= 100

const finishers: Record<string, (slots: Slots, help: SlotHelp, captures: readonly Capture[]) => Slots | null> = {
  remember,
  correct,
  remind: reminder,
  todo_add: reminder,
  when_only: whenOnly,
  tell_person: tell,
  event_add: eventAdd,
  event_named: eventAdd,
  event_remove: eventRemove,
  event_move: eventMove,
  todo_today({ period, ...slots }) {
    const asked = period as Period | undefined
    return asked ? { ...slots, from: iso(asked.from), to: iso(asked.to) } : slots
  },
  alarm_set: alarm,
  alarm_cancel: alarmMeant,
  remind_ask: () => ({}),
  media_play: play,
  list_add: listItems,
  list_need: listItems,
  list_ask: (slots, help) => ({ list: help.readers.shoppingList(help.context.names.lists), ...slots }),
  list_clear: (slots, help) => ({ list: help.readers.shoppingList(help.context.names.lists), ...slots }),
  list_complete: listItem,
  list_remove: listItem,
  list_show: (slots, help) => ({ list: help.readers.shoppingList(help.context.names.lists), ...slots }),
  timer_set: (slots, help, captures) => (withinReach(slots) ? { ...slots, ...(isNegative(captures, help) && { negative: true }) } : null),
  timer_add: (slots) => (withinReach(slots) ? slots : null),
  timer_reduce: (slots) => (withinReach(slots) ? slots : null),
  volume_set: (slots) => {
    const level = typeof slots.level === 'string' ? Number(slots.level) : slots.level
    return isLevel(level) ? { ...slots, level } : null
  },
  volume_change: (slots) => (slots.by === undefined || isLevel(slots.by) ? slots : null),
  event_ask: ({ period, ...slots }) => {
    const asked = period as Period | undefined
    return asked ? { ...slots, from: iso(asked.from), to: iso(asked.to) } : slots
  },
  time: ({ city, ...slots }) => (city ? { ...slots, ...(city as object) } : slots),
  date: ({ city, period, ...slots }) => ({
    ...slots,
    ...(city as object | undefined),
    ...(period !== undefined && { on: iso((period as Period).from) }),
  }),
  spell: (slots) => (/^[\p{L}\p{M}’'-]+$/u.test(String(slots.word)) ? slots : null),
  convert(slots) {
    const { from, to, inches } = slots
    const amount = Number(slots.amount ?? 1) + Number(inches ?? 0) / 12
    const result = convert(amount, String(from), String(to))
    return result === null ? null : { amount, from, to, result: Number(result.toPrecision(12)) }
  },
}

/** The slots of an intent as its data describes them; null where what was captured makes no sense for it. */
export function finish(intent: string, captures: readonly Capture[], help: SlotHelp): Slots | null {
  const slots = plain(captures)
  const finisher = finishers[intent]
  return finisher ? finisher(slots, help, captures) : slots
}

/** Splits at commas and `and`, but not inside what is one thing, such as `fish and chips`. */
export function createItems(and: readonly string[], together: readonly string[]) {
  const joints = and.map((word) => word.replaceAll(/[^\p{L}]/gu, '')).filter((word) => word !== '')
  const joint = new RegExp(`\\s*,\\s*(?:(?:${joints.join('|')})\\s+)?|\\s+(?:${joints.join('|')})\\s+`, 'iu')
  const whole = together.map((pair) => fold(pair))
  return (text: string): string[] => {
    const pieces = text.split(new RegExp(joint, 'giu')).map((piece) => piece.trim())
    const items: string[] = []
    for (const piece of pieces) {
      const before = items.at(-1)
      const pair = before === undefined ? null : `${before} ${joints[0]} ${piece}`
      if (pair && whole.some((known) => fold(pair).endsWith(known))) items[items.length - 1] = pair
      else if (piece !== '') items.push(piece)
    }
    return items
  }
}
