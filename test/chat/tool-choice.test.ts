import { expect, test } from 'vitest'
import { z } from 'zod'
import { action } from '../../server/kit/actions.ts'
import { chooseTools } from '../../server/modules/chat/tool-choice.ts'
import { yesOrNo } from '../../server/modules/chat/yes-or-no.ts'

const make = (name: string, description: string) =>
  action({ name, description, input: z.strictObject({}), risk: 'low', run: async () => ({ output: '' }) })
const all = [
  make('remember', 'Keep something in mind'),
  make('recall', 'Find what is remembered'),
  make('camera_snapshot', 'Take a picture with a camera'),
  make('plug_on', 'Switch a plug on'),
  make('play_song', 'Play a song on a music box'),
]
const names = (text: string, before: string[] = []) => chooseTools(all, text, new Set(before), 3).map(({ name }) => name)

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
