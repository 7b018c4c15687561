import { expect, test } from 'vitest'
import { context, languages, names, understand, understanding } from './house.ts'
import { misses, sentences } from './our-sentences.ts'

const slots = (text: string, changes = {}) => understand(text, changes)?.slots

test('our own sentences are understood, and those that mean something else are not', () => {
  const negative = sentences.filter(({ intent }) => intent === null)
  expect(sentences.length).toBeGreaterThanOrEqual(300)
  expect(negative.length / sentences.length).toBeGreaterThan(1 / 3)
  const missed = misses()
  expect(missed.length / sentences.length, missed.join('\n')).toBeLessThanOrEqual(0.02)
})

test('every example that is suggested is understood as what it is an example of', () => {
  const house = {
    ...names,
    people: [{ id: 'anna', name: 'Anna' }],
    plugs: [
      { id: 'r', name: 'Reading lamp' },
      { id: 'l', name: 'Leselampe' },
    ],
  }
  const cameras = [
    { id: 'f', name: 'Front door' },
    { id: 'h', name: 'Haustür' },
  ]
  const boxes = [{ id: 'tv', name: 'TV' }]
  for (const { language, intents } of languages()) {
    for (const [intent, { examples }] of Object.entries(intents)) {
      for (const example of examples) {
        const understood = understand(example.replace('{person}', 'Anna'), {
          locale: language,
          names: { ...house, cameras, boxes, areas: ['Kitchen', 'Küche'] },
        })
        expect({ example, intent: understood?.intent, language: understood?.language }).toEqual({ example, intent, language })
      }
    }
  }
})

test('the same replies are there in every language', () => {
  const keys = languages().map(({ replies }) => Object.keys(replies).sort())
  for (const each of keys) expect(each).toEqual(keys[0])
})

test.each([
  ['start a timer for 1/2 a minute', 30],
  ['set a timer for half a minute', 30],
  ['set a timer for one and a half hours', 5_400],
  ['set a timer for an hour and a half', 5_400],
  ['set a timer for an hour and 15 minutes', 4_500],
  ['set a timer for 90 secs', 90],
  ['set a timer for a quarter of an hour', 900],
  ['set a timer for three quarters of an hour', 2_700],
  ['set a timer for twenty-five minutes', 1_500],
  ['set a timer for 2½ minutes', 150],
  ['set a timer for 1.5 hours', 5_400],
  ['set a timer for one hundred and five minutes', 6_300],
  ['set a timer for two days, 3 hours and 1 second', 183_601],
  ['set a 45-minute timer', 2_700],
])('%s is %i seconds', (text, seconds) => expect(slots(text)).toEqual({ durationMs: seconds * 1_000 }))

test.each([
  'set a timer for 0 minutes',
  'set a timer for 5000 days',
  'set a timer for minus 5 minutes',
  'set the volume to 250',
  'convert 5 km to kilos',
])('%s is not understood', (text) => expect(understand(text)).toBeNull())

// 21 November 2026 is a Saturday; it is 11:30 in Berlin.
test.each([
  ['remind me to call mum tomorrow at 5', '2026-11-22T16:00:00.000Z'],
  ['remind me to call mum at 5', '2026-11-21T16:00:00.000Z'],
  ['remind me to call mum at 8', '2026-11-21T19:00:00.000Z'],
  ['remind me to call mum tomorrow at 8', '2026-11-22T07:00:00.000Z'],
  ['remind me to call mum tomorrow', '2026-11-22T08:00:00.000Z'],
  ['remind me to call mum tonight', '2026-11-21T19:00:00.000Z'],
  ['remind me to call mum on Tuesday at 19:30', '2026-11-24T18:30:00.000Z'],
  ['remind me to call mum at half past four', '2026-11-21T15:30:00.000Z'],
  ['remind me to call mum at quarter to 9 in the morning', '2026-11-22T07:45:00.000Z'],
  ['remind me to call mum in 20 minutes', '2026-11-21T10:50:00.000Z'],
  ['remind me to call mum in an hour and a half', '2026-11-21T12:00:00.000Z'],
  ['remind me at 5 to call mum tomorrow', '2026-11-22T16:00:00.000Z'],
  ['remind me to call mum on the 24th of December at noon', '2026-12-24T11:00:00.000Z'],
  ['remind me to call mum on the 15th', '2026-12-15T08:00:00.000Z'],
  ['remind me to call mum at 05:00 tomorrow', '2026-11-22T04:00:00.000Z'],
])('%s: %s', (text, remindAt) => expect(slots(text)).toMatchObject({ title: 'call mum', remindAt, personId: 'ines' }))

test('a bare hour from one to six is the next afternoon’s, unless the morning is said', () => {
  const now = new Date('2026-11-21T14:43:00Z')
  expect(slots('remind me at 3 to pick up Maja', { now })?.remindAt).toBe('2026-11-22T14:00:00.000Z')
  expect(slots('remind me at 5 to pick up Maja', { now })?.remindAt).toBe('2026-11-21T16:00:00.000Z')
  expect(slots('remind me at 3 in the morning to pick up Maja', { now })?.remindAt).toBe('2026-11-22T02:00:00.000Z')
  expect(slots('remind me at 8 to pick up Maja', { now })?.remindAt).toBe('2026-11-21T19:00:00.000Z')
})

test('a time that is past is not reminded of', () => {
  expect(understand('remind me to call mum today at 9:15 am')?.slots.remindAt).toBeUndefined()
})

test.each([
  ['2026-03-28T12:00:00Z', 'Europe/Berlin', '2026-03-29T06:00:00.000Z'],
  ['2026-10-24T12:00:00Z', 'Europe/Berlin', '2026-10-25T07:00:00.000Z'],
  ['2026-03-07T20:00:00Z', 'America/New_York', '2026-03-08T12:00:00.000Z'],
  ['2026-10-03T06:00:00Z', 'Australia/Lord_Howe', '2026-10-03T21:00:00.000Z'],
])('over the change of clocks eight stays eight: %s in %s', (now, timezone, remindAt) => {
  expect(slots('remind me to eat tomorrow at 8 am', { now: new Date(now), timezone })?.remindAt).toBe(remindAt)
})

test('an hour that the clocks skip is the one after it; hours from now on are whole hours', () => {
  const now = new Date('2026-03-28T23:30:00Z')
  expect(slots('set an alarm for 2:30', { now })?.endsAt).toBe('2026-03-29T01:30:00.000Z')
  expect(slots('remind me in 3 hours to sleep', { now })?.remindAt).toBe('2026-03-29T02:30:00.000Z')
})

test('what repeats becomes a rule that begins with the next time', () => {
  expect(slots('put choir every Thursday at 19:30 into the calendar')).toEqual({
    title: 'choir',
    startAt: '2026-11-26T18:30:00.000Z',
    allDay: false,
    recurrence: 'FREQ=WEEKLY;BYDAY=TH',
  })
  expect(slots('remind me every 3 days at 10 to water the ferns')).toMatchObject({ recurrence: 'FREQ=DAILY;INTERVAL=3' })
  expect(slots('remind me every other week to mop')).toMatchObject({ recurrence: 'FREQ=WEEKLY;INTERVAL=2' })
  expect(slots('remind me every Monday and Friday at 7 am to run')).toMatchObject({
    recurrence: 'FREQ=WEEKLY;BYDAY=MO,FR',
    remindAt: '2026-11-23T06:00:00.000Z',
  })
  expect(slots('remind me to pay the rent on the 1st of every month')).toMatchObject({ recurrence: 'FREQ=MONTHLY;BYMONTHDAY=1' })
})

test('events keep their end, and are for the whole day where no time is said', () => {
  expect(slots('add dentist on Tuesday from 3 to 4:30 pm to the calendar')).toMatchObject({
    startAt: '2026-11-24T14:00:00.000Z',
    endAt: '2026-11-24T15:30:00.000Z',
  })
  expect(slots('add school holiday on Monday to the calendar')).toEqual({
    title: 'school holiday',
    startAt: '2026-11-22T23:00:00.000Z',
    allDay: true,
  })
})

test('stretches of time are those of the household', () => {
  expect(slots("what's on tomorrow")).toEqual({ from: '2026-11-21T23:00:00.000Z', to: '2026-11-22T23:00:00.000Z' })
  expect(slots('what do I have next weekend')).toEqual({ from: '2026-11-27T23:00:00.000Z', to: '2026-11-29T23:00:00.000Z' })
  expect(slots("what's on tomorrow", { timezone: 'America/New_York' })).toMatchObject({ from: '2026-11-22T05:00:00.000Z' })
})

test('several things are several, but what is one stays one', () => {
  expect(slots('add milk, six eggs and bread to the shopping list')?.items).toEqual(['milk', 'six eggs', 'bread'])
  expect(slots('add fish and chips and peas to the shopping list')?.items).toEqual(['fish and chips', 'peas'])
  expect(slots('add sweep and mop the floor to the chores list')?.items).toEqual(['sweep and mop the floor'])
})

test('names are found as people say them', () => {
  expect(slots('turn on the desk lamps')).toMatchObject({ plugId: 'desk' })
  expect(slots('turn on the coffe maker')).toMatchObject({ plugId: 'coffee' })
  expect(slots("when is Ossi's birthday")).toMatchObject({ personId: 'oskar' })
  expect(slots('turn on Küchenlicht', { names: { ...names, plugs: [{ id: 'k', name: 'Kuchenlicht' }] } })).toMatchObject({ plugId: 'k' })
  expect(understand('turn on the desk ramp')?.slots.plugId).toBe('desk')
  expect(understand('turn on the fish tank')).toBeNull()
})

test('a name that two things nearly have is none', () => {
  const plugs = [
    { id: 'a', name: 'Lamp 1a' },
    { id: 'b', name: 'Lamp 1b' },
  ]
  expect(understand('turn on lamp 1c', { names: { ...names, plugs } })).toBeNull()
  expect(slots('turn on lamp 1b', { names: { ...names, plugs } })).toMatchObject({ plugId: 'b' })
})

test.each([
  ['what is 15% of 80', 12],
  ['80 + 10%', 88],
  ['-3 ^ 2', -9],
  ['what is 1,000 divided by 8?', 125],
  ['what is (2 + 3) * (4 - 1)', 15],
  ['what is two hundred and five minus six', 199],
])('%s is %s', (text, result) => expect(understand(text)).toMatchObject({ intent: 'calculate', slots: { result } }))

test.each(['what is 1 / 0', '9^9^9^9^9', '(((((', '1 + ', 'what is constructor', 'import("fs") + 1', 'x = 5'])(
  '%s is no calculation',
  (text) => expect(understand(text)?.intent).not.toBe('calculate'),
)

test('a question that any encyclopaedia answers is at most a maybe', () => {
  expect(understand('what is the capital of France')).toMatchObject({ maybe: true })
  expect(understand('what do you know about the boiler')).toMatchObject({ maybe: false })
})

test('German is understood in a German house, and English there too', () => {
  const german = (text: string) => understand(text, { locale: 'de-DE', names: { ...names, areas: ['Küche'], lists: [] } })
  expect(german('Stell bitte einen Timer auf fünfundzwanzig Minuten')).toMatchObject({
    language: 'de',
    intent: 'timer_set',
    slots: { durationMs: 1_500_000 },
  })
  expect(german('Setz Milch und Eier auf die Einkaufsliste')).toMatchObject({ intent: 'list_add', slots: { items: ['Milch', 'Eier'] } })
  expect(german('Weck mich um halb sieben')?.slots.endsAt).toBe('2026-11-22T05:30:00.000Z')
  expect(german('Erinnere mich jeden Dienstag um 19 Uhr an den Müll')?.slots).toMatchObject({
    title: 'Müll',
    recurrence: 'FREQ=WEEKLY;BYDAY=TU',
  })
  expect(german('Was ist 15 Prozent von 80?')?.slots.result).toBe(12)
  expect(german('Mach das Licht in der Küche aus')).toMatchObject({ intent: 'turn_off', slots: { area: 'Küche' } })
  expect(german('Erzähl mir ein Märchen')).toBeNull()
  expect(german('set a timer for 5 minutes')).toMatchObject({ language: 'en' })
})

test('what comes close is suggested', () => {
  expect(understanding.suggest('could we have a timer with bells', context).join()).toContain('timer')
  expect(understanding.suggest('groceries shopping please', context).join()).toContain('shopping list')
  expect(understanding.suggest('', context)).toHaveLength(3)
})

const hostile: [string, string][] = [
  ['nothing', ''],
  ['white space', ' \n\t '],
  ['32,000 letters', 'a'.repeat(32_000)],
  ['2,000 times the same word', 'add '.repeat(500)],
  ['words that fit again and again', `add ${'to the shopping list '.repeat(95)}`],
  ['numbers without end', '1 '.repeat(1_000)],
  ['and without end', `set a timer for ${'1 hour and '.repeat(170)}`],
  ['dates without end', 'remind me to tomorrow at 5 '.repeat(70)],
  ['brackets', '('.repeat(1_999)],
  ['powers', '9^'.repeat(99)],
  ['template signs', '[{(<timer>)|}] {text:item} <who> $1 \\'],
  ['emoji', '🔥👩‍👩‍👧‍👦🇩🇪 set a timer 🔥 for 5 minutes 🔥'],
  ['right to left', 'ذكرني غدا في الساعة 5 \u202eset a timer\u202c'],
  ['half a pair', 'remember that \ud800 is \udfff'],
  ['NUL', 'set a\0timer for 5 minutes'],
  ['marks', `e${'\u0301'.repeat(1_900)}`],
  ['prototype', 'what is the __proto__ of constructor'],
  ['apostrophes', "'".repeat(1_900)],
  ['a bomb for regular expressions', `${'a'.repeat(60)}! `.repeat(30)],
]

test.each(hostile)('bears %s', (_, text) => {
  understand('warm up')
  const began = performance.now()
  expect(() => understand(text)).not.toThrow()
  expect(() => understanding.suggest(text, context)).not.toThrow()
  expect(performance.now() - began).toBeLessThan(5_000)
})

/** The same numbers on every run. */
function random(seed: number) {
  let state = seed
  return (below: number) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}

test('understands or does not, but never throws, whatever words follow each other', () => {
  const next = random(7)
  const words = [
    ...new Set(sentences.flatMap(({ say }) => say.split(' '))),
    '1/2',
    '0',
    '99999999999',
    '25:99',
    '31.02.',
    '½',
    "o'clock",
    '\u200f',
    '-',
    '%',
  ]
  for (let round = 0; round < 1_500; round++) {
    const text = Array.from({ length: 1 + next(12) }, () => words[next(words.length)]).join(' ')
    expect(() => understand(text, { locale: round % 5 === 0 ? 'de-AT' : 'en-US' }), text).not.toThrow()
  }
})

test('many names do not make it slow', () => {
  const many = Array.from({ length: 5_000 }, (_, at) => ({ id: `${at}`, name: `Song number ${at} of the long night` }))
  const house = { ...names, songs: many, plugs: many.slice(0, 500) }
  understand('play some music', { names: house })
  const began = performance.now()
  for (let round = 0; round < 20; round++) understand('play Song number 77 of the lung night', { names: house })
  expect((performance.now() - began) / 20).toBeLessThan(250)
})

test('an unknown zone is not guessed', () => {
  expect(understand('what time is it now', { timezone: 'Mars/Olympus' })).toBeNull()
})

test.each([
  ['text oskar the code is 4711', 'the code is 4711'],
  ['tell oskar dinner is ready', 'dinner is ready'],
  ['tell oskar a joke that is funny', undefined],
  ['tell maja a story about what is in the sea', undefined],
  ['tell maja something that is true', undefined],
])('what somebody is told is what was said and not what is to be thought of: %s', (text, message) => {
  const understood = understand(text)
  expect(understood?.intent === 'tell_person' ? understood.slots.message : undefined).toBe(message)
})
