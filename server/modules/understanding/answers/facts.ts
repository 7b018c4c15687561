import { DateTime } from 'luxon'
import { z } from 'zod'
import { MEASURES } from '../measures.ts'
import { type Answer, type AnswerHelp, type Answers, number, type Slots, text } from './answer.ts'
import { recollect } from './memory.ts'

/** What a list says of how much there is, where it shows less. */
const Counted = z.object({ total: z.number() })

const plainly =
  (key: string): Answer =>
  async (_, { speech }) =>
    speech.say(key)

function person({ personId, who }: Slots, { household, speaker }: AnswerHelp) {
  return who === 'me' ? speaker : (household.persons.find(({ id }) => id === personId) ?? null)
}

/** Larger numbers have more digits than are known of them. */
const MOST_EXACT = 1e15

function outcome(result: number, speech: AnswerHelp['speech']): string {
  if (Math.abs(result) < MOST_EXACT) return speech.say('result', { result: speech.number(result) })
  const exponent = Math.floor(Math.log10(Math.abs(result)))
  const leading = Number((result / 10 ** exponent).toPrecision(5))
  return speech.say('result_about', { result: `${speech.number(leading)} × 10^${exponent}` })
}

/** Others elsewhere are larger. */
const AMERICAN: ReadonlySet<string> = new Set(['cup', 'pint', 'quart', 'gallon', 'fluid_ounce'])

const signOf = (measure: string, amount: number): string => {
  const sign = MEASURES[measure]?.sign ?? ''
  return amount === 1 ? sign.replace(/(?<=\p{L}{2})s$/u, '') : sign
}

/** With capitals, where it was typed without. */
const asPlace = (name: string): string =>
  name === name.toLowerCase() ? name.replaceAll(/(?<=^|[\s-])\p{L}/gu, (letter) => letter.toUpperCase()) : name

/** The next birthday, from today on. */
function nextBirthday(birthDate: string, today: DateTime): DateTime {
  const born = DateTime.fromISO(birthDate, { zone: today.zone })
  const inYear = (year: number) => {
    const day = born.set({ year })
    return born.month === 2 && born.day === 29 && !DateTime.local(year).isInLeapYear ? day.set({ month: 2, day: 28 }) : day
  }
  const next = inYear(today.year)
  return next < today.startOf('day') ? inYear(today.year + 1) : next
}

async function birthday(slots: Slots, help: AnswerHelp) {
  const { speech } = help
  const who = person(slots, help)
  if (!who) return slots.who === 'me' ? speech.say('know_nobody') : null
  if (!who.birthDate) {
    return (help.has('recall') ? await recollect(help.text, help) : null) ?? speech.say('birthday_unknown', { name: who.displayName })
  }
  const next = nextBirthday(who.birthDate, speech.now()).setLocale(speech.now().locale ?? 'en')
  const days = Math.round(next.diff(speech.now().startOf('day'), 'days').days)
  const date = next.toLocaleString({ day: 'numeric', month: 'long' })
  return speech.say(days === 0 ? 'birthday_today' : 'birthday_is', { name: who.displayName, date, count: days })
}

async function age(slots: Slots, help: AnswerHelp) {
  const who = person(slots, help)
  if (!who) return null
  if (!who.birthDate)
    return (help.has('recall') ? await recollect(help.text, help) : null) ?? help.speech.say('birthday_unknown', { name: who.displayName })
  if (slots.next) {
    const next = nextBirthday(who.birthDate, help.speech.now())
    const date = next.toLocaleString({ day: 'numeric', month: 'long', year: 'numeric' })
    const count = next.year - DateTime.fromISO(who.birthDate).year
    return help.speech.say('age_will_be', { name: who.displayName, count, date })
  }
  const years = Math.floor(help.speech.now().diff(DateTime.fromISO(who.birthDate, { zone: help.speech.now().zone }), 'years').years)
  return help.speech.say(years < 1 ? 'age_first_year' : 'age_is', { name: who.displayName, count: years })
}

async function birthdays(_: Slots, { household, speech }: AnswerHelp) {
  const today = speech.now()
  const known = household.persons
    .flatMap(({ displayName, birthDate }) => (birthDate ? [{ displayName, next: nextBirthday(birthDate, today) }] : []))
    .toSorted((a, b) => a.next.toMillis() - b.next.toMillis())
  if (known.length === 0) return speech.say('birthdays_unknown')
  return speech.say('birthdays', {
    items: speech.list(known.map(({ displayName, next }) => `${displayName} (${next.toLocaleString({ day: 'numeric', month: 'long' })})`)),
    count: known.length,
  })
}

async function houseStatus(_: Slots, { run, has, speech }: AnswerHelp) {
  const count = async (action: string, params: Record<string, unknown>, key: string) => {
    if (!has(action)) return []
    const { data } = await run(action, params, 'no_status')
    const open = Array.isArray(data) ? data.length : (Counted.safeParse(data).data?.total ?? 0)
    return open > 0 ? [{ said: speech.say(key, { count: open }), count: open }] : []
  }
  const now = speech.now()
  const parts = [
    ...(await count('list_events', { from: now.toUTC().toISO(), to: now.endOf('day').toUTC().toISO() }, 'status_events')),
    ...(await count('list_todos', { status: 'open' }, 'status_todos')),
    ...(await count('list_timers', {}, 'status_timers')),
  ]
  const [first] = parts
  if (!first) return speech.say('status_quiet')
  // the verb goes with what is named first
  return speech.say('status', { items: speech.list(parts.map(({ said }) => said)), count: first.count })
}

export const factAnswers: Answers = {
  time: async ({ zone, name }, { speech }) =>
    zone
      ? speech.say('time_in', { city: asPlace(text(name)), time: speech.time(new Date(speech.now().toMillis()), text(zone)) })
      : speech.say('time', { time: speech.time(new Date(speech.now().toMillis())) }),
  async date({ on, zone, ask, unit }, { speech }) {
    const now = speech.now()
    if (ask === 'week') return speech.say('week_is', { week: now.weekNumber })
    if (ask === 'year') return speech.say('year_is', { year: now.year })
    if (ask === 'month') return speech.say('month_is', { month: now.toLocaleString({ month: 'long' }) })
    if (on && ask === 'until') {
      const count = Math.round(DateTime.fromISO(text(on), { zone: now.zone }).diff(now.startOf('day'), 'days').days)
      if (unit === 'weeks' && count >= 7) return speech.say('weeks_until', { weeks: speech.weeks(count) })
      return speech.say(count < 1 ? 'days_until_today' : 'days_until', { count })
    }
    if (on) return speech.say('date_is', { date: speech.date(text(on)) })
    return speech.say('date', { date: speech.date(new Date(now.toMillis()), text(zone) || undefined) })
  },
  async weekend({ ask }, { speech }) {
    const isWeekend = speech.now().weekday >= 6
    return speech.say((ask === 'workday') === isWeekend ? 'no_today_is' : 'yes_today_is', {
      date: speech.now().toLocaleString({ weekday: 'long' }),
    })
  },
  people: async (_, { household: { persons }, speech }) =>
    speech.say('people', { names: speech.list(persons.map(({ displayName }) => displayName)), count: persons.length }),
  birthday,
  age,
  birthdays,
  house_status: houseStatus,
  calculate: async ({ result }, { speech }) => outcome(number(result) ?? 0, speech),
  divide_by_zero: plainly('divide_by_zero'),
  spell: async ({ word }, { speech }) => speech.say('spelled', { letters: [...text(word).toUpperCase()].join('-') }),
  async convert({ amount, from, to, result }, { speech }) {
    const rounded = Number((number(result) ?? 0).toPrecision(4))
    return speech.say('converted', {
      amount: speech.number(Number((number(amount) ?? 1).toPrecision(6))),
      from: signOf(text(from), number(amount) ?? 1),
      result: speech.number(rounded),
      to: `${AMERICAN.has(text(to)) ? 'US ' : ''}${signOf(text(to), rounded)}`,
    })
  },
  help: async (_, { call, speech }) => speech.say(call.caller.scope === 'guest' ? 'help_guest' : 'help'),
  never_mind: plainly('never_mind'),
  thanks: plainly('thanks'),
  async greeting({ part }, { speech, speaker }) {
    return speech.say(speaker ? 'greeting_named' : 'greeting', {
      hello: speech.say(`hello_${text(part) || 'day'}`),
      name: speaker?.displayName ?? '',
    })
  },
  goodbye: async ({ part }, { speech }) => speech.say(part === 'night' ? 'good_night' : 'goodbye'),
  how_are_you: plainly('how_are_you'),
  who_are_you: plainly('who_are_you'),
}
