import { randomUUID } from 'node:crypto'
import { beforeEach, expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import { type ActionCall, action, createActionRegistry } from '../../server/kit/actions.ts'
import type { Caller } from '../../server/kit/caller.ts'
import { AppError } from '../../server/kit/errors.ts'
import type { Person } from '../../server/modules/household/household.contract.ts'
import { createGrammarReplies } from '../../server/modules/understanding/grammar-replies.ts'
import { names, understanding } from './house.ts'

const now = new Date('2026-11-21T10:30:00Z')
const householdId = randomUUID()
const person = (id: string, displayName: string, birthDate: string | null): Person => ({
  id,
  householdId,
  displayName,
  pronouns: '',
  role: 'adult',
  aliases: [],
  birthDate,
})
const persons = [person('ines', 'Ines', '1984-11-22'), person('oskar', 'Oskar', '2015-02-28'), person('maja', 'Maja', null)]
const boiler = { id: 'c1', title: 'the boiler code is 4711', content: 'the boiler code is 4711', observedAt: '2026-03-12T09:00:00Z' }

let locale: string
let runs: { name: string; params: unknown }[]
let refused: AppError | null
const registry = () => createActionRegistry({ audit: async () => async () => undefined })
let actions: ReturnType<typeof registry>

/** Stands in for the house's own actions: says what was asked for. */
function offer(name: string, data: unknown, output = `${name} is done.`): void {
  actions.add(
    action({
      name,
      description: name,
      input: z.record(z.string(), z.unknown()),
      risk: 'low',
      async run(params) {
        if (refused) throw refused
        runs.push({ name, params })
        return { output, data: typeof data === 'function' ? data(params) : data }
      },
    }),
  )
}

beforeEach(() => {
  locale = 'en-GB'
  runs = []
  refused = null
  actions = registry()
})

const replies = () =>
  createGrammarReplies({
    understanding,
    actions,
    household: {
      get: () => ({ household: { id: householdId, displayName: 'Home', mode: 'multi', timezone: 'Europe/Berlin', locale }, persons }),
    },
    names: () => names,
    describeSource: async (chunkId) => (chunkId === boiler.id ? boiler : null),
    now: () => now,
  })

function call(changes: Partial<Caller> = {}): ActionCall & { lastSources: { chunkId: string; title: string }[] } {
  const caller: Caller = {
    kind: 'device',
    scope: 'member',
    deviceId: 'd',
    userId: 'ines',
    personId: 'ines',
    sessionId: 's',
    via: 'bearer',
    ...changes,
  }
  return { caller, origin: 'chat', signal: AbortSignal.timeout(60_000), lastSources: [] }
}
const ask = (text: string, more: Parameters<ReturnType<typeof replies>['answer']>[1] = call()) => replies().answer(text, more)

test('a timer is set through the action, and the run is shown', async () => {
  offer('set_timer', {}, 'Your pasta timer is set for 9 minutes.')
  const reply = await ask('set a pasta timer for 9 minutes')
  expect(runs).toEqual([{ name: 'set_timer', params: { durationMs: 540_000, name: 'pasta' } }])
  expect(reply).toMatchObject({ intent: 'timer_set', text: 'Your pasta timer is set for 9 minutes.', sure: true })
  expect(reply?.toolCalls).toMatchObject([{ name: 'set_timer', status: 'done' }])
})

test('several things go onto the list one by one, and are told at once', async () => {
  offer('add_todo', {})
  expect((await ask('add milk and eggs to the shopping list'))?.text).toBe('Added milk and eggs to the Groceries list.')
  expect(runs.map(({ params }) => params)).toEqual([
    { title: 'milk', list: 'Groceries' },
    { title: 'eggs', list: 'Groceries' },
  ])
})

test('what is added to nothing named is a thing to buy, and no event, person or sum', async () => {
  offer('add_todo', {})
  const others = ['dentist on friday', 'party tomorrow', 'friday', 'two plus two', '5 + 3', 'half', 'Oskar']
  for (const other of others) expect((await ask(`add ${other}`))?.intent, other).not.toBe('list_need')
  expect(runs).toEqual([])
  for (const item of ['eggs', 'half fat milk', '2 melons', 'after eight']) await ask(`add ${item}`)
  expect(runs).toMatchObject(['eggs', 'half fat milk', '2 melons', 'after eight'].map((title) => ({ params: { title } })))
})

test('emoji stay with what they were said with', async () => {
  offer('add_todo', {})
  expect((await ask('put 🧀 and Käse on the shopping list'))?.text).toBe('Added 🧀 and Käse to the Groceries list.')
  expect((await ask('add 🥛 milk and eggs 🥚🍳 to the shopping list'))?.text).toBe('Added 🥛 milk and eggs 🥚🍳 to the Groceries list.')
  expect(runs.map(({ params }) => (params as { title: string }).title)).toEqual(['🧀', 'Käse', '🥛 milk', 'eggs 🥚🍳'])
  await ask('remind me tomorrow at 5 to hug 👩‍👧 everyone ❤️')
  expect(runs.at(-1)?.params).toMatchObject({ title: 'hug 👩‍👧 everyone ❤️' })
  locale = 'de-DE'
  await ask('Setz Äpfel 🍏 auf die Einkaufsliste')
  expect(runs.at(-1)?.params).toMatchObject({ title: 'Äpfel 🍏' })
})

test('a reminder is for whom it is meant', async () => {
  offer('add_todo', {})
  expect((await ask('remind Maja tomorrow at 5 to feed the fish'))?.text).toBe('I will remind Maja tomorrow at 17:00: feed the fish.')
  expect(runs[0]?.params).toMatchObject({ title: 'feed the fish', personId: 'maja', remindAt: '2026-11-22T16:00:00.000Z' })
  expect((await ask('remind me to sleep'))?.text).toContain('to-do list')
})

test('a time is that of a to-do put down before, with its notes, unless a model asked something since', async () => {
  const todo = { id: randomUUID(), title: 'call the bank', notes: 'about the card', createdAt: now.toISOString() }
  offer('list_todos', { items: [todo], total: 1 })
  offer('add_todo', {})
  offer('remove_todo', {})
  const added = { id: randomUUID(), name: 'add_todo', params: {}, status: 'done' as const, output: null, data: todo }
  const asked = { ...call(), lastCalls: [[added]] }
  const lastModelReply = { question: 'when is the best time to swim?', content: 'When would you like to go?' }
  expect(await ask('tomorrow at 8', { ...asked, lastModelReply })).toBeNull()
  expect(runs).toEqual([])
  await ask('tomorrow at 8', asked)
  expect(runs.slice(1)).toMatchObject([
    { name: 'add_todo', params: { title: 'call the bank', notes: 'about the card' } },
    { name: 'remove_todo', params: { id: todo.id } },
  ])
})

test('memory answers with its source', async () => {
  offer('recall', { chunks: [boiler], answer: 'You told me on 12 March: the boiler code is 4711' })
  const reply = await ask('what is the boiler code?')
  expect(reply).toMatchObject({ sure: false, text: 'You told me on 12 March: the boiler code is 4711', sources: [{ chunkId: 'c1' }] })
  expect(runs[0]?.params).toEqual({ query: 'what is the boiler code?' })
})

test('what memory does not know is left to a model, unless it was asked for', async () => {
  offer('recall', { chunks: [boiler], answer: null })
  expect(await ask('what is the capital of France')).toBeNull()
  expect((await ask('what do you know about dragons'))?.text).toBe('I know nothing about dragons.')
})

test('what was remembered just now can be asked back and forgotten', async () => {
  offer('remember', { chunk: boiler }, 'I will remember that.')
  offer('forget', {}, 'I have forgotten it.')
  const reply = await ask('remember that the boiler code is 4711')
  expect(reply?.sources).toEqual([{ chunkId: 'c1', title: boiler.title }])
  const lastSources = reply?.sources ?? []
  expect((await ask('how do you know that?', { ...call(), lastSources }))?.text).toBe(
    'I was told on Thursday 12 March: “the boiler code is 4711”',
  )
  expect((await ask('forget that', { ...call(), lastSources }))?.text).toBe('I have forgotten it.')
  expect(runs.at(-1)).toEqual({ name: 'forget', params: { chunkId: 'c1' } })
  expect((await ask('forget that'))?.text).toContain('What should I forget?')
  expect((await ask('why do you know this', { ...call(), lastSources: [{ chunkId: 'gone', title: 'it' }] }))?.text).toBe(
    'It came from something I have forgotten since.',
  )
})

test('which to forget is picked right after it was asked, and “no one” picks none', async () => {
  offer('forget', {}, 'I have forgotten it.')
  const lastSources = [boiler, { id: 'c2', title: 'the boiler hums' }].map(({ id, title }) => ({ chunkId: id, title }))
  const found = {
    id: randomUUID(),
    name: 'recall',
    params: { query: 'the boiler', purpose: 'forget' },
    status: 'done' as const,
    output: null,
  }
  const asked = { ...call(), lastSources, lastCalls: [[found]] }
  for (const none of ['no one', 'forget no one', 'no, one', 'nobody', 'none'])
    expect((await ask(none, asked))?.text ?? 'All right, I leave it.', none).toBe('All right, I leave it.')
  const lastModelReply = { question: 'cats or dogs?', content: 'Both are fine.' }
  for (const pick of ['both', 'number 2', 'none']) expect(await ask(pick, { ...asked, lastModelReply }), pick).toBeNull()
  expect(runs).toEqual([])
  for (const pick of ['no. 2', 'number two', 'the first one']) await ask(pick, asked)
  expect(runs.map(({ params }) => params)).toEqual(['c2', 'c2', 'c1'].map((chunkId) => ({ chunkId })))
})

test('that the earlier versions go too is told in German as well', async () => {
  const lastSources = [{ chunkId: 'c1', title: boiler.title }]
  offer('forget', { earlier: 2 }, 'I have forgotten: the boiler code is 4711. Its 2 earlier versions are forgotten too.')
  expect((await ask('forget that', { ...call(), lastSources }))?.text).toBe(
    'I have forgotten: the boiler code is 4711. Its 2 earlier versions are forgotten too.',
  )
  locale = 'de-DE'
  expect((await ask('Vergiss das', { ...call(), lastSources }))?.text).toBe(
    'Das habe ich vergessen: the boiler code is 4711. Auch was vorher galt, ist vergessen: 2 frühere Fassungen.',
  )
})

test('nothing is forgotten that is not clearly meant', async () => {
  offer('recall', { chunks: [], answer: null })
  offer('forget', {})
  expect((await ask('forget about the garden gate'))?.text).toContain('nothing to forget')
  expect(runs.map(({ name }) => name)).toEqual(['recall'])
})

test('what no action can do yet is said honestly', async () => {
  expect((await ask('play some music'))?.text).toBe('I cannot play music yet: there is no music box or player here.')
  expect((await ask('turn on the desk lamp'))?.text).toContain('cannot switch')
  expect((await ask('show me the driveway camera'))?.text).toContain('no camera')
  expect((await ask('set the volume to 30'))?.text).toContain('cannot change the volume')
  expect((await ask('turn off the desk lamp in 10 minutes'))?.text).toContain('later')
})

test('lamps of all kinds and rooms are switched, and asked about where it is not clear which', async () => {
  offer('plug_on', {}, 'On.')
  offer('plug_off', {}, 'Off.')
  expect((await ask('turn off all the lights'))?.text).toBe('Off. Off.')
  expect(runs.map(({ params }) => params)).toEqual([{ deviceId: 'desk' }, { deviceId: 'fairy' }])
  expect((await ask('turn on the light'))?.text).toBe('Which one: Desk lamp and Fairy lights?')
})

test('a guest is told kindly, a failure with its message', async () => {
  offer('set_timer', {})
  const guest = call({ scope: 'guest' })
  const reply = await ask('set a timer for 5 minutes', guest)
  expect(reply?.text).toBe('I am sorry, I may not do that for guests.')
  expect(reply?.toolCalls).toEqual([])
  offer('recall', { chunks: [], answer: null })
  expect(await ask('what is the boiler code', guest)).toBeNull()
  refused = new AppError(404, 'not_found', 'There is no timer named “egg”.')
  offer('cancel_timer', {})
  expect(await ask('cancel the egg timer')).toMatchObject({ text: 'There is no timer named “egg”.', toolCalls: [{ status: 'failed' }] })
})

test('a member hears why something is refused, a guest that it is not for guests', async () => {
  offer('cancel_timer', {})
  refused = new AppError(403, 'others_alarm', 'That is Maja’s alarm; only an admin may change it.')
  expect((await ask("cancel Maja's alarm"))?.text).toBe('That is Maja’s alarm; only an admin may change it.')
  refused = new AppError(403, 'forbidden', 'Only an admin may do this.')
  expect((await ask('cancel the egg timer'))?.text).toBe('Only an admin may do this.')
  locale = 'de-DE'
  expect((await ask('lösch den Eier-Timer'))?.text).toBe('Das hat leider nicht geklappt.')
  locale = 'en-GB'
  offer('stop_song', {})
  const reply = await ask('stop the music', call({ scope: 'guest' }))
  expect(reply?.text).toBe('I am sorry, I may not do that for guests.')
})

test('a bug is no answer', async () => {
  actions.add({
    ...action({ name: 'set_timer', description: '', input: z.object({}), risk: 'low', run: async () => ({ output: '' }) }),
    parse: () => {
      throw new TypeError('bug')
    },
  })
  await expect(ask('set a timer for 5 minutes')).rejects.toThrow('bug')
})

test('the calendar is told a day at a time', async () => {
  const event = (title: string, startAt: string, allDay = false) => ({
    id: randomUUID(),
    title,
    startAt,
    endAt: startAt,
    allDay,
    kind: 'event',
  })
  offer('list_events', [
    event('Choir', '2026-11-22T18:30:00Z'),
    event('Holiday', '2026-11-22T23:00:00Z', true),
    event('Dentist', '2026-11-23T14:00:00Z'),
  ])
  expect((await ask("what's on the calendar this week"))?.text).toBe(
    'Tomorrow: Choir at 19:30. On Monday 23 November: Holiday and Dentist at 15:00.',
  )
  expect((await ask('when is my next appointment'))?.text).toBe('Next is Choir, tomorrow at 19:30.')
})

test('guests learn of no other’s birthday', async () => {
  const guest = call({ scope: 'guest', personId: 'oskar' })
  for (const text of ["when is Ines's birthday", 'how old is Ines', 'when are the birthdays']) {
    expect((await ask(text, guest))?.text ?? '', text).not.toMatch(/\d/)
  }
  expect((await ask('how old am I', guest))?.text).toContain('11')
})

test('who was born on 29 February has their birthday on the last day of February, as in the calendar', async () => {
  const oskar = persons.find(({ id }) => id === 'oskar')
  const bornOn = oskar?.birthDate
  onTestFinished(() => void Object.assign(oskar ?? {}, { birthDate: bornOn }))
  Object.assign(oskar ?? {}, { birthDate: '2016-02-29' })
  expect((await ask("when is Oskar's birthday"))?.text).toBe('Oskar’s birthday is on 28 February, in 99 days.')
})

test('time, dates, birthdays and sums need no action', async () => {
  expect((await ask('what time is it now'))?.text).toBe('It is 11:30.')
  expect((await ask('what time is it in New York'))?.text).toBe('In New York it is 05:30.')
  expect((await ask('what day is it'))?.text).toBe('Today is Saturday, 21 November 2026.')
  expect((await ask("when is Ines's birthday"))?.text).toBe('Ines’s birthday is on 22 November: tomorrow.')
  expect((await ask('how old is Oskar'))?.text).toBe('Oskar is 11 years old.')
  expect((await ask("when is Maja's birthday"))?.text).toContain('do not know')
  expect((await ask('what is 15% of 80'))?.text).toBe('That is 12.')
  expect((await ask('how many miles is 5 km'))?.text).toBe('5 km is 3.107 mi.')
  expect((await ask('how many days until Christmas'))?.text).toBe('That is in 34 days.')
  expect((await ask('who lives here'))?.text).toBe('Ines, Oskar and Maja live here.')
  expect((await ask('good morning'))?.text).toContain('Good morning, Ines!')
})

test.each([
  ['what is tomorrow’s date?', 'That is Sunday, 22 November 2026.'],
  ['what day is it in 3 days?', 'That is Tuesday, 24 November 2026.'],
  ['how many days until my birthday?', 'Ines’s birthday is on 22 November: tomorrow.'],
  ["how many weeks until New Year's Eve", 'That is in 5 weeks and 5 days.'],
  ['how many days until New Year’s Eve', 'That is in 40 days.'],
  ['is it the weekend?', 'Yes, today is Saturday.'],
  ['is today a workday?', 'No, today is Saturday.'],
  ['10 divided by 0', 'Nothing can be divided by zero: there is no such number.'],
  ['15 percent of 80 euros', 'That is 12.'],
  ['20% of €50', 'That is 10.'],
  ['5 feet 10 in cm', '5.83333 ft is 177.8 cm.'],
  ['how do you spell necessary', 'N-E-C-E-S-S-A-R-Y.'],
  ['2^1000', 'That is about 1.0715 × 10^301.'],
  ['123456789 * 1001', 'That is 123,580,245,789.'],
  ['12 divided by 7', 'That is 1.714285714.'],
  ['what time is it in london', 'In London it is 10:30.'],
  ['what time is it in new york', 'In New York it is 05:30.'],
  ['1 cup in tablespoons', '1 cup is 16 tbsp.'],
  ['1 l in cups', '1 l is 4.227 US cups.'],
])('%s: %s', async (question, answer) => expect((await ask(question))?.text).toBe(answer))

test('“stop” ends what rings before it ends the music', async () => {
  const rings = {
    id: randomUUID(),
    kind: 'timer',
    durationMs: 60_000,
    endsAt: now.toISOString(),
    remainingMs: 0,
    rangAt: now.toISOString(),
    createdAt: now.toISOString(),
  }
  offer('list_timers', [rings])
  offer('cancel_timer', {})
  expect((await ask('stop'))?.text).toBe('All right, quiet again.')
  expect(runs.at(-1)).toEqual({ name: 'cancel_timer', params: { id: rings.id } })
})

test('German is answered in German', async () => {
  locale = 'de-DE'
  offer('set_timer', {}, 'Your timer is set.')
  offer('add_todo', {})
  offer('recall', { chunks: [boiler], answer: 'You told me on 12 March: the boiler code is 4711' })
  expect((await ask('Stell einen Timer auf 10 Minuten'))?.text).toBe('Der Timer läuft: 10 Minuten.')
  expect((await ask('Erinnere mich morgen um 17 Uhr daran, Mama anzurufen'))?.text).toBe(
    'Ich erinnere dich morgen um 17:00: Mama anzurufen.',
  )
  expect((await ask('Wie ist der Code der Heizung?'))?.text).toBe('Das wurde mir am Donnerstag, 12. März gesagt: the boiler code is 4711')
  expect((await ask('what time is it now'))?.text).toBe('It is 11:30.')
  expect((await replies().notUnderstood('Bau mir ein Haus', call())).text).toContain('nicht verstanden')
})

test('one of a kind is spoken of as one, several as several', async () => {
  const many = (count: number) => Array.from({ length: count }, () => ({}))
  const counts = { list_events: 0, list_todos: 4, list_timers: 0 }
  for (const name of Object.keys(counts)) offer(name, () => many(counts[name as keyof typeof counts]))
  expect((await ask('how is the house?'))?.text).toBe('All is well. There are 4 open to-dos.')
  counts.list_todos = 1
  expect((await ask('how is the house?'))?.text).toBe('All is well. There is one open to-do.')
  Object.assign(counts, { list_events: 1, list_todos: 4, list_timers: 2 })
  expect((await ask('how is the house?'))?.text).toBe(
    'All is well. There is one thing in the calendar today, 4 open to-dos and 2 timers and alarms.',
  )
  locale = 'de-DE'
  Object.assign(counts, { list_events: 0, list_todos: 1, list_timers: 0 })
  expect((await ask('Wie geht es dem Haus?'))?.text).toBe('Alles ist gut. Es gibt eine offene Aufgabe.')
})

test('of several days every reminder is told with its day, of one with its time', async () => {
  offer('list_events', [])
  const reminder = (title: string, remindAt: string) => ({ title, remindAt })
  offer('list_todos', { items: [reminder('water the ferns', '2026-11-23T16:00:00.000Z'), reminder('bins', '2026-11-27T06:30:00.000Z')] })
  expect((await ask("what's on next week"))?.text).toBe(
    'Reminders: water the ferns, on Monday 23 November at 17:00; bins, on Friday 27 November at 07:30.',
  )
  expect((await ask("what's on this week"))?.text).toContain('water the ferns, on Monday 23 November at 17:00')
  locale = 'de-DE'
  expect((await ask('Was steht nächste Woche an?'))?.text).toBe(
    'Erinnerungen: water the ferns, am Montag, 23. November um 17:00; bins, am Freitag, 27. November um 07:30.',
  )
})

test('of this week nothing is told that is over', async () => {
  offer('list_events', [])
  await ask("what's on this week")
  expect(runs[0]?.params).toEqual({ from: '2026-11-20T23:00:00.000Z', to: '2026-11-22T23:00:00.000Z' })
  await ask("what's on next week")
  expect(runs[1]?.params).toEqual({ from: '2026-11-22T23:00:00.000Z', to: '2026-11-29T23:00:00.000Z' })
  locale = 'de-DE'
  await ask('Was steht diese Woche an?')
  expect(runs[2]?.params).toEqual(runs[0]?.params)
})

test('what began before is told on the first day that was asked about', async () => {
  const event = (title: string, startAt: string, endAt: string, allDay = true) => ({
    id: '6c2f2f4e-58a5-4a3c-9a39-0b1d5f6f3c11',
    kind: 'event',
    ...{ title, startAt, endAt, allDay },
  })
  offer('list_events', [
    event('Grandma is here', '2026-11-19T23:00:00.000Z', '2026-11-24T23:00:00.000Z'),
    event('night train', '2026-11-21T19:00:00.000Z', '2026-11-22T06:00:00.000Z', false),
    event('choir', '2026-11-22T18:30:00.000Z', '2026-11-22T20:00:00.000Z', false),
  ])
  expect((await ask("what's on tomorrow"))?.text).toBe('Tomorrow: Grandma is here, night train and choir at 19:30.')
  locale = 'de-DE'
  expect((await ask('Was steht morgen an?'))?.text).toBe('Morgen: Grandma is here, night train und choir um 19:30.')
})

test('of very much that is on, it is told how much more there is', async () => {
  const events = Array.from({ length: 15 }, (_, at) => ({
    id: '6c2f2f4e-58a5-4a3c-9a39-0b1d5f6f3c11',
    kind: 'event',
    title: `lesson ${at}`,
    startAt: '2026-11-22T18:30:00.000Z',
    endAt: '2026-11-22T20:00:00.000Z',
    allDay: false,
  }))
  offer('list_events', events)
  expect((await ask("what's on tomorrow"))?.text).toMatch(/lesson 11 at 19:30\. And 3 more\.$/)
  locale = 'de-DE'
  expect((await ask('Was steht morgen an?'))?.text).toMatch(/lesson 11 um 19:30\. Und 3 weitere\.$/)
})

test('every reply that counts has a word for one, and every one that lists says so too', () => {
  for (const { language, replies: words } of [understanding.languageFor('en'), understanding.languageFor('de')]) {
    for (const [key, reply] of Object.entries(words)) {
      const spoken = typeof reply === 'string' ? [reply] : [reply.one, reply.other]
      if (spoken.some((text) => text.includes('{count}'))) expect(reply, `${language} ${key}`).toBeTypeOf('object')
      if (typeof reply === 'string') {
        expect(reply, `${language} ${key}`).not.toMatch(
          /\b(?:there (?:is|are)|these|birthdays|diese|nächsten)\b.*\{(?:items|lists|names)\}/i,
        )
      }
    }
  }
})

test('every answer in the data has someone to give it, and every reply its words', async () => {
  for (const { language, intents } of [understanding.languageFor('en'), understanding.languageFor('de')]) {
    locale = language
    for (const { examples } of Object.values(intents)) {
      for (const example of examples) {
        const reply = await ask(example.replace('{person}', 'Oskar'))
        if (reply) expect(reply.text, example).not.toMatch(/[{}]|undefined|NaN/)
      }
    }
  }
})

test('a household whose language is none of ours is answered in English', async () => {
  locale = 'fr-FR'
  expect((await replies().notUnderstood('Construis-moi une maison', call())).text).toContain('did not understand')
  expect(replies().say('left_undone')).toBe('All right, I leave it.')
  locale = 'de-AT'
  expect(replies().say('left_undone')).toBe('In Ordnung, ich lasse es.')
})

test('what might be known is said not to be', async () => {
  expect((await replies().notUnderstood('What is the gate code?', call())).text).toContain('do not know that')
})

test('what is not understood gets an honest word with what is near', async () => {
  offer('set_timer', {})
  const { text } = await replies().notUnderstood('timer please do your thing', call())
  expect(text).toContain('did not understand')
  expect(text).toContain('timer')
})
