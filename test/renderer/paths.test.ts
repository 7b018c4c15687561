import { expect, test } from 'vitest'
import { localPath, matchPath } from '../../renderer/paths.ts'

test('a pattern gives the parameters of a path that fits, decoded, with or without a slash at the end', () => {
  expect(matchPath('/chat/{id}', '/chat/a%20b')).toEqual({ id: 'a b' })
  expect(matchPath('/chat', '/chat/')).toEqual({})
  expect(matchPath('/chat/{id}', '/chat')).toBeNull()
  expect(matchPath('/chat', '/settings')).toBeNull()
})

test('a path that cannot be decoded fits no pattern', () => {
  expect(matchPath('/chat/{id}', '/chat/%E0%A4%A')).toBeNull()
})

test.each([
  ['/paired-devices?x=1', '/paired-devices?x=1'],
  [null, '/chat'],
  ['', '/chat'],
  ['//evil.example', '/chat'],
  ['/\\evil.example', '/chat'],
  ['/a\\b', '/chat'],
  ['https://evil.example', '/chat'],
  ['javascript:alert(1)', '/chat'],
  ['/a\nb', '/chat'],
  ['\t//evil.example', '/chat'],
])('returning to %j goes to %s', (given, expected) => {
  expect(localPath(given, '/chat')).toBe(expected)
})
