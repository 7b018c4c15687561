import { EventEmitter } from 'node:events'
import { expect, test } from 'vitest'
import { pageOfArguments, pageOfLink } from '../../main/deep-link.ts'
import { beOnlyInstance } from '../../main/single-instance.ts'

const PAIR = 'hearth://pair?d=eyJ2IjoyfQ'

test('a link chooses a page from the list', () => {
  expect(pageOfLink(PAIR)).toBe('/paired-devices')
  expect(pageOfLink('hearth://chat')).toBe('/chat')
  expect(pageOfLink('HEARTH://Settings/')).toBe('/settings')
  expect(pageOfLink('hearth://open')).toBe('/')
})

test.each([
  'hearth://pair/../../etc/passwd?d=../../secret',
  'hearth://pair?d=%00%0d%0aSet-Cookie:x',
  'hearth://pair/%2e%2e/%2e%2e#//evil.example',
  'hearth://user:word@pair:99/?redirect=https://evil.example',
])('nothing of %s but its name is used', (link) => {
  expect(pageOfLink(link)).toBe('/paired-devices')
})

test.each([
  'hearth://evil.example/',
  'hearth://__proto__',
  'hearth://constructor',
  'hearth://toString',
  'hearth:pair',
  'hearth://',
  'https://pair/',
  'javascript:hearth://pair',
  'file:///pair',
  '',
  `hearth://pair?d=${'a'.repeat(1024 * 1024)}`,
])('%.40s is no link of ours', (link) => {
  expect(pageOfLink(link)).toBeNull()
})

test('other arguments of a command line are ignored', () => {
  expect(pageOfArguments(['/opt/hearth', '--inspect=0.0.0.0', '--gpu-launcher=/bin/sh', PAIR, 'hearth://chat'])).toBe('/paired-devices')
  expect(pageOfArguments(['/opt/hearth', '--inspect', '--link=hearth://chat'])).toBeNull()
})

class App extends EventEmitter {
  readonly first: boolean
  hasQuit = false
  constructor(first: boolean) {
    super()
    this.first = first
  }
  requestSingleInstanceLock(): boolean {
    return this.first
  }
  quit(): void {
    this.hasQuit = true
  }
}

test('a second instance quits, and the first one hears what was asked, as often as asked', () => {
  const opened: (string | null)[] = []
  const second = new App(false)
  expect(beOnlyInstance(second, (page) => opened.push(page))).toBe(false)
  expect(second.hasQuit).toBe(true)

  const first = new App(true)
  expect(beOnlyInstance(first, (page) => opened.push(page))).toBe(true)
  first.emit('second-instance', {}, ['/opt/hearth', PAIR])
  first.emit('second-instance', {}, ['/opt/hearth', PAIR])
  first.emit('second-instance', {}, ['/opt/hearth', '--inspect'])
  first.emit('open-url', { preventDefault: () => undefined }, 'hearth://chat')
  expect(opened).toEqual(['/paired-devices', '/paired-devices', null, '/chat'])
  expect(first.hasQuit).toBe(false)
})
