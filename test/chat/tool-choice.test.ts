import { expect, test } from 'vitest'
import { z } from 'zod'
import { action, createActionRegistry } from '../../server/kit/actions.ts'
import { chooseTools } from '../../server/modules/chat/tool-choice.ts'
import { createTools } from '../../server/modules/chat/tools.ts'
import { yesOrNo } from '../../server/modules/chat/yes-or-no.ts'
import { createDefaultEmbedder } from '../../server/modules/memory/ranking/default-embedder.ts'
import { languagesIn } from '../../server/modules/understanding/language.ts'
import { createUnderstanding } from '../../server/modules/understanding/understanding.ts'

const make = (name: string, description: string) =>
  action({ name, description, input: z.strictObject({}), risk: 'low', run: async () => ({ output: '' }) })
const all = [
  make('remember', 'Keep something in mind'),
  make('recall', 'Find what is remembered'),
  make('camera_snapshot', 'Take a picture with a camera'),
  make('plug_on', 'Switch a plug on'),
  make('play_song', 'Play a song on a music box'),
]
const names = (text: string, before: string[] = []) => chooseTools(all, text, new Set(before), { most: 3 }).map(({ name }) => name)

test('what a request is about comes first, what it is not about stays out', () => {
  expect(names('Take a picture of the garden with the cameras')).toEqual(['camera_snapshot', 'recall', 'remember'])
  expect(names('Tell me a story')).toEqual(['recall', 'remember'])
  expect(names('And again', ['play_song'])).toEqual(['play_song', 'recall', 'remember'])
})

test('a plain word decides, a sentence does not', () => {
  expect(['Yes', 'ok', 'go ahead!', 'Yes, please', 'ja bitte'].map(yesOrNo)).toEqual([true, true, true, true, true])
  expect(['No', 'nope.', 'no thanks', 'Don’t', 'nein'].map(yesOrNo)).toEqual([false, false, false, false, false])
  expect(['Yes and tell Anna about it', 'No idea what you mean', 'Nobody', 'yesterday', ''].map(yesOrNo)).toEqual([
    null,
    null,
    null,
    null,
    null,
  ])
})

test('what everyday talk needs is always offered, and tools of other servers take at most half of the places', () => {
  const house = ['remember', 'recall', 'add_todo', 'list_todos', 'add_event', 'list_events', 'set_timer', 'remove_todo', 'move_event']
  const own = house.map((name) => make(name, 'Does something in the house'))
  const stuffed = Array.from({ length: 40 }, (_, at) =>
    make(`mcp.stuffed.tool_${at}`, 'Milk shopping list calendar week busy tomorrow remove move event todo timer kitchen'),
  )
  const chosen = chooseTools([...own, ...stuffed], 'Remove milk from the shopping list and move the event', new Set()).map(
    ({ name }) => name,
  )
  expect(chosen).toHaveLength(12)
  for (const name of house) expect(chosen).toContain(name)
  expect(chosen.filter((name) => name.startsWith('mcp.')).length).toBeLessThanOrEqual(6)
})

const understanding = createUnderstanding({ languages: languagesIn('resources/understanding') })
const actions = createActionRegistry({ audit: async () => async () => undefined })
for (const [name, description] of [
  ['remove_event', 'Takes an event out of the calendar; of a recurring one the next occurrence, or all of them.'],
  ['send_notification', 'Show a notification on the devices of the household'],
  ['open_gate', 'Opens the gate of the garden'],
  ['water_lawn', 'Waters the lawn'],
  ['list_events', 'Tells what is in the calendar'],
] as const)
  actions.add(make(name, description))
const caller = { kind: 'key', scope: 'admin', userId: 'u', personId: null, deviceId: 'd', sessionId: 's', via: 'bearer' } as const
const call = { caller, origin: 'model', signal: AbortSignal.timeout(60_000) } as const

async function offered(locale: string, text: string): Promise<string[]> {
  const tools = createTools({
    actions,
    embedder: createDefaultEmbedder('resources'),
    wordsFor: (action) => understanding.actionWords(locale).get(action) ?? [],
  })
  return (await tools.functionsFor({ conversationId: 'c', text, call }, async () => undefined)).map(({ name }) => name)
}

test('words of the household’s own language find actions that are described in English', async () => {
  expect(await offered('de-DE', 'Wäre nett, wenn du den Termin am Freitag streichen würdest')).toContain('remove_event')
  expect(await offered('de-DE', 'Erzähl mir schön, was diese Woche im Kalender steht')).toContain('list_events')
  expect(await offered('de-DE', 'Was hältst du von Fußball?')).not.toContain('remove_event')
})

test('other words of the same meaning find an action', async () => {
  expect(await offered('en-GB', 'Could somebody sprinkle the grass?')).toContain('water_lawn')
  expect(await offered('en-GB', 'What is a good name for a cat?')).not.toContain('water_lawn')
})
