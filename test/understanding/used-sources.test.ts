import { expect, test } from 'vitest'
import { isTold } from '../../server/modules/understanding/used-sources.ts'

test.each([
  ['The gate code is 1111', 'what is the gate code?', 'The gate code is 1111.'],
  ['the boiler is in the cellar\nMr Krause mends it, phone 0301234', 'whom do I call about the heating', 'Call Mr Krause, phone 0301234.'],
  ['Der Schlüssel hängt im Flur', 'wo ist der Schlüssel', 'Er hängt im FLUR.'],
])('“%s” is in the answer to “%s”: %s', (memory, question, content) => {
  expect(isTold(memory, { question, content })).toBe(true)
})

test.each([
  ['the alarm code is 9999 now', 'what is the gate code?', 'I do not know the gate code.'],
  ['Always say hello to the cat', 'hello how are you today my dear', 'Hello! I am fine, and you?'],
  ['Grandma’s medicine: 2 pills of Marcumar every evening', 'could you write a poem about pills', 'Pills are red, pills are blue.'],
  ['The gate code is 1111', 'is the gate code 1111 or 2222?', 'I cannot say whether it is 1111 or 2222.'],
  ['', 'what?', ''],
])('“%s” is not in the answer to “%s”: %s', (memory, question, content) => {
  expect(isTold(memory, { question, content })).toBe(false)
})
