import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { event } from '../server/kit/events.ts'
import { clientMessages, serverMessages } from '../server/kit/socket.contract.ts'
import { socketDocs } from '../server/kit/socket-docs.ts'
import { topic } from '../server/kit/topic.ts'
import { socketMessages } from '../server/sockets.ts'

const ROOT = join(import.meta.dirname, '..')

test('docs/sockets.md is what scripts/write-socket-docs.mjs makes of the schemas', () => {
  expect(readFileSync(join(ROOT, 'docs', 'sockets.md'), 'utf8')).toBe(socketDocs(socketMessages))
})

test('every message that a module declares is in it', () => {
  const declared = readdirSync(join(ROOT, 'server', 'modules'), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .map((file) => readFileSync(join(ROOT, 'server', 'modules', file), 'utf8'))
    .flatMap((source) => [...source.matchAll(/(?:client|server)Message\(\{\s*type: '([^']+)'/g)].map(([, type]) => type))
  const gathered = [...socketMessages.client, ...socketMessages.server].map(({ type }) => type)
  expect(gathered.sort()).toEqual(declared.sort())
  expect(declared.length).toBeGreaterThan(3)
})

test('a payload with a name of its own, and what may be null, are written out', () => {
  const Song = z.object({ title: z.string(), year: z.number().nullable() }).meta({ id: 'SongOfDocs' })
  const Album = z.object({ songs: z.array(Song), best: Song }).meta({ id: 'AlbumOfDocs' })
  const topics = [
    topic({ event: event('song.began', Song), access: 'guest', summary: '' }),
    topic({ event: event('songs.listed', z.object({ songs: z.array(Song), album: Album.nullable() })), access: 'guest', summary: '' }),
  ]
  const docs = socketDocs({ client: [], server: [], topics, later: [] })
  expect(docs).toContain('| `title` | string | |\n| `year` | number or null | |')
  expect(docs).toContain('| `songs` | list of object of title, year | |')
  expect(docs).toContain('| `album` | object of songs, best or null | |')
  expect(socketDocs(socketMessages)).not.toContain('Any payload, or none.\n\n### `notification.changed`')
})

/** What is agreed upon with those who write clients. */
const agreed = {
  client: ['hello', 'ping', 'push.register', 'notification.ack', 'notification.action', 'subscribe', 'unsubscribe'],
  server: ['notification.push', 'plugin.tablet.sound', 'plugin.tablet.vibrate', 'welcome', 'pong', 'result', 'error'],
  topics: [
    ...['media.scan', 'model.download', 'memory.index', 'iot.state', 'iot.event', 'camera.alert', 'camera.capture', 'job.run'],
    ...['todo.changed', 'calendar.changed', 'timer.changed', 'notification.changed', 'pairing.changed'],
    ...['plugin.status', 'plugin.widget-data', 'plugin.widget.bundle-changed'],
  ],
}

test('whatever is agreed upon is there, or is said to come with its part of the house; nothing is both', () => {
  const { client, server, topics, later } = socketMessages
  const there = {
    client: [...Object.keys(clientMessages), ...client.map(({ type }) => type)],
    server: [...Object.keys(serverMessages), ...server.map(({ type }) => type)],
    topics: topics.map(({ event }) => event.name),
  }
  const toCome = later.flatMap(({ names }) => names)
  for (const kind of ['client', 'server', 'topics'] as const)
    expect(there[kind].concat(toCome), kind).toEqual(expect.arrayContaining(agreed[kind]))
  expect(toCome.filter((name) => Object.values(there).flat().includes(name))).toEqual([])
  expect(Object.values(agreed).flat()).toEqual(expect.arrayContaining(toCome))
})
