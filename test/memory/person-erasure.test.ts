import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import BetterSqlite3 from 'better-sqlite3'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Person } from '../support/house.ts'
import { type Family, outcome, startFamily } from './family.ts'

/** A word that stands in no text but those of Ben; it begins as no other word, so that a full-text index holds it whole. */
const MARK = 'zyzzogeton'

let family: Family
beforeAll(async () => {
  family = await startFamily()
})
afterAll(() => family[Symbol.asyncDispose]())

/** Every table and column of the database, those inside the full-text indices too, in which the word stands. */
function placesOf(word: string): string[] {
  const db = new BetterSqlite3(join(family.house.dataPath, 'hearth.sqlite'), { readonly: true })
  try {
    const tables = db.prepare(`SELECT name FROM sqlite_master WHERE type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL%'`).all() as {
      name: string
    }[]
    return tables
      .flatMap(({ name }) =>
        (db.pragma(`table_info("${name}")`) as { name: string }[]).map((column) => ({ table: name, column: column.name })),
      )
      .filter(({ table, column }) =>
        db
          .prepare(`SELECT 1 FROM "${table}" WHERE instr(lower(CAST("${column}" AS BLOB)), CAST(? AS BLOB)) > 0
          OR instr(CAST("${column}" AS BLOB), CAST(? AS BLOB)) > 0 LIMIT 1`)
          .get(word, word),
      )
      .map(({ table, column }) => `${table}.${column}`)
      .toSorted()
  } finally {
    db.close()
  }
}

async function say(person: Person, message: string, conversationId?: string): Promise<{ conversationId: string; text: string }> {
  const response = await person.fetch('/api/chat', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ message, ...(conversationId && { conversationId }) }),
  })
  const answer = await response.text()
  expect(response.status, answer).toBe(200)
  const end = answer.indexOf('\n')
  return { ...(JSON.parse(answer.slice(0, end)) as { conversationId: string }), text: answer.slice(end + 1) }
}

const run = (person: Person, name: string, body: object) =>
  person.fetch(`/api/actions/${name}/execute`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })

test('what was written of a person’s words goes with their memory: from the log of actions and from the cards of conversations', async () => {
  const { conversationId } = await say(family.ben, `Remember that my hiding place is ${MARK}`)
  expect((await say(family.ben, 'What is my hiding place?', conversationId)).text).toContain(MARK)
  expect((await run(family.ben, 'remember', { content: `I also like ${MARK}` })).status).toBe(200)
  expect((await run(family.ben, 'cancel_timer', { name: MARK })).status).toBe(404)
  const others = await say(family.ada, 'Remember that my favourite colour is teal')
  expect(placesOf(MARK)).toEqual(
    expect.arrayContaining(['action_run.params', 'action_run.output', 'memory_chunk.content', 'message.toolCalls', 'message.sources']),
  )
  await family.ben.api.memory.erasePerson({ params: { id: family.ids.ben }, query: {} })
  // what he said stands in his conversation still, until he deletes that
  const left = placesOf(MARK).filter((place) => !/^(?:message\.content|conversation\.title|message_search_data\.block)$/.test(place))
  expect(left).toEqual([])
  const { messages } = await family.ben.api.chat.get({ params: { id: conversationId } })
  expect(messages.map(({ toolCalls }) => toolCalls?.map(({ name, status }) => `${name} ${status}`) ?? [])).toContainEqual(['remember done'])
  const items = await family.owner.api.actions.runs({ query: {} })
  expect(items.filter(({ personId }) => personId === family.ids.ben).map(({ action, status }) => `${action} ${status}`)).toEqual(
    expect.arrayContaining(['remember succeeded', 'recall succeeded', 'cancel_timer failed']),
  )
  const untouched = await family.ada.api.chat.get({ params: { id: others.conversationId } })
  expect(untouched.messages.at(-1)?.toolCalls?.[0]?.output).toContain('teal')
})

test('conversations go too where that is asked for', async () => {
  const { conversationId } = await say(family.cleo, 'Remember that my cat is called Mog')
  await family.cleo.api.memory.erasePerson({ params: { id: family.ids.cleo }, query: { conversations: 'true' } })
  expect(await family.cleo.api.chat.list({ query: {} })).toEqual([])
  expect(await outcome(family.cleo.fetch(`/api/chat/conversations/${conversationId}`))).toBe('404 not_found')
})

/** The files of the house, its database's log among them, in whose bytes the word stands, and how often. */
function filesWith(word: string): Record<string, number> {
  const found: Record<string, number> = {}
  for (const entry of readdirSync(family.house.dataPath, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue
    const count = readFileSync(join(entry.parentPath, entry.name)).toString('latin1').toLowerCase().split(word).length - 1
    if (count > 0) found[entry.name] = count
  }
  return found
}

test('of erased words nothing is left on the disk, not even in what the database let go or in its log', async () => {
  const word = 'quaxelbrot'
  for (let n = 0; n < 40; n++) {
    const content = `${word} number ${n} ${'and more of it '.repeat(n * 8)}`
    await family.cleo.api.memory.addChunk({ body: { source: 'note', content, personId: family.ids.cleo } })
  }
  for (let n = 0; n < 5; n++) await say(family.cleo, `Remember that my ${word} has ${n} legs. ${`${word} `.repeat(100 * n)}`)
  expect(filesWith(word)).not.toEqual({})
  await family.cleo.api.memory.erasePerson({ params: { id: family.ids.cleo }, query: { conversations: 'true' } })
  expect(filesWith(word)).toEqual({})
})

test('nothing at all is left of the words of somebody who has moved out, once their memory is erased', async () => {
  await say(family.ben, `Remember that my other hiding place is ${MARK} as well`)
  const { household, persons } = await family.owner.api.household.get()
  const { id: _, ...settings } = household
  await family.owner.api.household.replace({ body: { ...settings, persons: persons.filter(({ id }) => id !== family.ids.ben) } })
  const about = { params: { id: family.ids.ben }, query: {} }
  await family.owner.api.memory.erasePerson(about)
  expect(placesOf(MARK)).toEqual([])
  await expect(family.owner.api.memory.erasePerson(about)).rejects.toMatchObject({ status: 404 })
  expect(await family.ada.api.chat.list({ query: {} })).not.toEqual([])
})

test('nobody erases what is another’s', async () => {
  const other = (person: Person, id: string) => outcome(person.fetch(`/api/memory/people/${id}?conversations=true`, { method: 'DELETE' }))
  expect(await other(family.cleo, family.ids.ada)).toBe('404 not_found')
  expect(await other(family.shared, family.ids.cleo)).toBe('404 not_found')
  expect(await other(family.owner, crypto.randomUUID())).toBe('404 not_found')
  expect((await family.ada.api.memory.chunks({ query: { personId: family.ids.ada } })).chunks).not.toEqual([])
})
