import { join } from 'node:path'
import BetterSqlite3 from 'better-sqlite3'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { householdChanged } from '../../server/modules/household/household.contract.ts'
import { codeOf } from '../support/answers.ts'
import { json } from '../support/credentials.ts'
import { type Browser, type House, startHouse } from '../support/house.ts'

let house: House
let ada: Browser
beforeAll(async () => {
  house = await startHouse()
  ada = await house.residentOwner()
})
afterAll(() => house[Symbol.asyncDispose]())

const base = { displayName: 'Hill House', timezone: 'Europe/Berlin', locale: 'de-DE', mode: 'multi' as const }
beforeEach(async () => {
  const owner = (await ada.api.household.get()).persons.find(({ role }) => role === 'owner')
  await ada.api.household.replace({ body: { ...base, persons: [{ id: owner?.id, displayName: 'Ada' }] } })
})

const put = (body: object) => ada.fetch('/api/household', json(body, 'PUT'))

test('a new person is an adult, keeps the id by name in any case, and what is not said stays', async () => {
  const first = await ada.api.household.replace({
    body: {
      ...base,
      persons: [{ displayName: 'Ada' }, { displayName: 'Ben', aliases: ['Benny'], birthDate: '2016-02-29', pronouns: 'he/him' }],
    },
  })
  const ben = first.persons[1]
  expect(ben).toMatchObject({ role: 'adult', aliases: ['Benny'], birthDate: '2016-02-29', householdId: first.household.id })
  const second = await ada.api.household.replace({
    body: { ...base, timezone: 'America/New_York', persons: [{ displayName: '  bEN ', role: 'child' }, { displayName: 'ada' }] },
  })
  expect(second.persons.map(({ displayName, role }) => [displayName, role])).toEqual([
    ['bEN', 'child'],
    ['ada', 'owner'],
  ])
  expect(second.persons[0]).toMatchObject({ id: ben?.id, aliases: ['Benny'], birthDate: '2016-02-29', pronouns: 'he/him' })
  expect(second.household).toEqual({ id: first.household.id, ...base, timezone: 'America/New_York' })
  expect(await ada.api.household.get()).toEqual(second)
  await house.restart()
  expect(await ada.api.household.get()).toEqual(second)
})

test('what GET returned can be sent back, and an id outlives a new name', async () => {
  const before = await ada.api.household.replace({ body: { ...base, persons: [{ displayName: 'Ada' }, { displayName: 'Ben' }] } })
  const { id: _, ...settings } = before.household
  const echo = await put({ ...before.household, persons: before.persons })
  expect(await echo.json()).toEqual(before)
  const [owner, ben] = before.persons
  const swapped = await ada.api.household.replace({
    body: {
      ...settings,
      persons: [
        { id: owner?.id, displayName: 'Ben' },
        { id: ben?.id, displayName: 'Ada', birthDate: null },
      ],
    },
  })
  expect(swapped.persons.map(({ id }) => id)).toEqual([owner?.id, ben?.id])
})

test('a name whose person was claimed by id makes a new person', async () => {
  const { persons } = await ada.api.household.get()
  const after = await ada.api.household.replace({
    body: { ...base, persons: [{ id: persons[0]?.id, displayName: 'Augusta' }, { displayName: 'Ada' }] },
  })
  expect(after.persons[0]).toMatchObject({ id: persons[0]?.id, role: 'owner' })
  expect(after.persons[1]?.id).not.toBe(persons[0]?.id)
})

test('a household of several cannot be for one alone, in the store or in what is sent', async () => {
  const two = [{ displayName: 'Ada' }, { displayName: 'Ben' }]
  await ada.api.household.replace({ body: { ...base, persons: two } })
  for (const persons of [two, [{ displayName: 'Ada' }]]) {
    const refused = await put({ ...base, mode: 'single', persons })
    expect(refused.status).toBe(409)
    expect(await codeOf(refused)).toBe('household_has_members')
  }
  await ada.api.household.replace({ body: { ...base, persons: [{ displayName: 'Ada' }] } })
  expect((await put({ ...base, mode: 'single', persons: [{ displayName: 'Ada' }] })).status).toBe(200)
  expect(await codeOf(await put({ ...base, mode: 'single', persons: two }))).toBe('household_has_members')
})

test('the owner stays, and stays the only one', async () => {
  for (const persons of [
    [{ displayName: 'Ben' }],
    [{ displayName: 'Ada', role: 'adult' }],
    [
      { displayName: 'Ada', role: 'child' },
      { displayName: 'Ben', role: 'owner' },
    ],
  ]) {
    const refused = await put({ ...base, persons })
    expect(refused.status).toBe(409)
    expect(await codeOf(refused)).toBe('owner_required')
  }
  expect((await put({ ...base, persons: [{ displayName: 'Ada' }, { displayName: 'Ben', role: 'owner' }] })).status).toBe(400)
  expect((await ada.api.household.get()).persons).toHaveLength(1)
})

test('what cannot be is refused with its path, and nothing changes', async () => {
  const { persons } = await ada.api.household.get()
  const before = await ada.api.household.get()
  const id = persons[0]?.id
  const person = { displayName: 'Ada' }
  const bad: [object, string][] = [
    [{ persons: [person, { displayName: ' ADA ' }] }, 'body.persons.1.displayName'],
    [
      {
        persons: [
          { id, ...person },
          { id, displayName: 'Ben' },
        ],
      },
      'body.persons.1.id',
    ],
    [{ persons: [person, { id: crypto.randomUUID(), displayName: 'Ben' }] }, 'body.persons.1.id'],
    [{ persons: [person], timezone: 'Mars/Olympus' }, 'body.timezone'],
    [{ persons: [person], timezone: '+01:00' }, 'body.timezone'],
    [{ persons: [person], locale: 'no such tag' }, 'body.locale'],
    [{ persons: [person], mode: 'many' }, 'body.mode'],
    [{ persons: [] }, 'body.persons'],
    [{ persons: [{ displayName: ' \0 ' }] }, 'body.persons.0.displayName'],
    [{ persons: [{ ...person, birthDate: '2023-02-29' }] }, 'body.persons.0.birthDate'],
    [{ persons: [{ ...person, shoeSize: 38 }] }, 'body.persons.0'],
  ]
  for (const [changes, path] of bad) {
    const refused = await put({ ...base, ...changes })
    expect(refused.status, path).toBe(400)
    expect(((await refused.json()) as { details: { path: string }[] }).details.map((detail) => detail.path)).toContain(path)
  }
  expect(await ada.api.household.get()).toEqual(before)
})

test('who is removed leaves shared devices whose old tokens end', async () => {
  const { persons, household } = await ada.api.household.replace({
    body: { ...base, persons: [{ displayName: 'Ada' }, { displayName: 'Ben' }] },
  })
  const phone = await house.pair('Ben’s phone')
  await ada.api.pairedDevices.update({ params: { id: phone.id }, body: { personId: persons[1]?.id ?? null } })
  const { accessToken, refreshToken } = (await (
    await house.bearer(phone.refreshToken).fetch('/api/auth/refresh', { method: 'POST' })
  ).json()) as {
    accessToken: string
    refreshToken: string
  }
  const own = house.bearer(accessToken)
  expect((await own.fetch('/api/household')).status).toBe(200)
  await ada.api.household.replace({ body: { ...base, persons: [{ displayName: 'Ada' }] } })
  expect((await own.fetch('/api/household')).status).toBe(401)
  const device = (await ada.api.pairedDevices.list()).find(({ id }) => id === phone.id)
  expect(device?.userId).toBe(household.id)
  const renewed = (await (await house.bearer(refreshToken).fetch('/api/auth/refresh', { method: 'POST' })).json()) as {
    accessToken: string
  }
  expect((await house.bearer(renewed.accessToken).fetch('/api/household')).status).toBe(200)
})

test('of two at once one whole state wins', async () => {
  const states = ['red', 'blue'].map((colour) => ({
    ...base,
    displayName: colour,
    persons: [{ displayName: 'Ada' }, ...Array.from({ length: 20 }, (_, at) => ({ displayName: `${colour} ${at}` }))],
  }))
  const answers = await Promise.all(states.map((state) => ada.api.household.replace({ body: state })))
  const after = await ada.api.household.get()
  expect(answers).toContainEqual(after)
  expect(new Set(after.persons.slice(1).map(({ displayName }) => displayName.split(' ')[0]))).toEqual(
    new Set([after.household.displayName]),
  )
})

test('the change is told, and only admins may make it', async () => {
  const told = new Promise((resolve) => house.app.events.on(householdChanged, resolve))
  await ada.api.household.replace({ body: { ...base, persons: [{ displayName: 'Ada' }] } })
  expect(await told).toEqual({})
  const member = await house.pair('a tablet', 'member')
  expect((await member.fetch('/api/household', json({ ...base, persons: [{ displayName: 'Ada' }] }, 'PUT'))).status).toBe(403)
})

test.each([['2999-01-01'], ['1899-12-31']])('nobody was born on %s', async (birthDate) => {
  const answer = await put({ ...base, persons: [{ displayName: 'Ada', birthDate }] })
  expect(answer.status).toBe(400)
  expect(((await answer.json()) as { error: string }).error).toMatch(/^body\.persons\.0\.birthDate: is (in the future|before 1900)$/)
})

test('a birth date that was stored before may stay as it is', async () => {
  const ben = { displayName: 'Ben', birthDate: '1950-05-01' }
  await ada.api.household.replace({ body: { ...base, persons: [{ displayName: 'Ada' }, ben] } })
  const file = new BetterSqlite3(join(house.dataPath, 'hearth.sqlite'))
  file.prepare(`UPDATE "person" SET "birthDate" = '1890-05-01' WHERE "displayName" = 'Ben'`).run()
  file.close()
  await house.restart()
  const { household: _, persons } = await ada.api.household.get()
  const answer = await put({ ...base, persons })
  expect(answer.status, await answer.text()).toBe(200)
})

test.each([
  ['america/new_york', 'America/New_York'],
  ['EUROPE/BERLIN', 'Europe/Berlin'],
  ['Asia/Kolkata', 'Asia/Kolkata'],
  ['asia/kolkata', 'Asia/Kolkata'],
  ['utc', 'UTC'],
])('the zone %s is kept as %s', async (timezone, kept) => {
  const { household } = await ada.api.household.replace({ body: { ...base, timezone, persons: [{ displayName: 'Ada' }] } })
  expect(household.timezone).toBe(kept)
})

test('control characters are no part of a name', async () => {
  const { household, persons } = await ada.api.household.replace({
    body: {
      ...base,
      displayName: 'Hill\0\u0007House',
      persons: [{ displayName: 'Ada' }, { displayName: 'B\u001ben\u202e', aliases: ['Be\u009d'] }],
    },
  })
  expect(household.displayName).toBe('Hill House')
  expect(persons[1]).toMatchObject({ displayName: 'B en', aliases: ['Be'] })
  expect((await put({ ...base, persons: [{ displayName: '\0\u0001' }] })).status).toBe(400)
})

test('a name is kept in one spelling, however its accents were typed', async () => {
  const typed = 'Zoë Müller'.normalize('NFD')
  const { persons } = await ada.api.household.replace({
    body: { ...base, persons: [{ displayName: 'Ada' }, { displayName: typed, aliases: ['Zoé'.normalize('NFD')] }] },
  })
  expect(persons[1]).toMatchObject({ displayName: 'Zoë Müller'.normalize('NFC'), aliases: ['Zoé'.normalize('NFC')] })
})
