import { existsSync, readFileSync } from 'node:fs'
import { z } from 'zod'
import type { UnderstandingContext, Understood } from '../server/modules/understanding/understood.ts'
import { context as house, understanding } from '../test/understanding/house.ts'
import { misses, sentences } from '../test/understanding/our-sentences.ts'
import { median, report } from './support/measure.ts'

/**
 * Sentences with the intents and slots of Home Assistant’s tests (`[{sentence, intent, slots}]`), from the file named by the first argument,
 * and our own. Reports how many are understood rightly, each that is not, and how many are understood in a second.
 */
const Expected = z.array(z.object({ sentence: z.string(), intent: z.string(), slots: z.record(z.string(), z.unknown()) }))
type Row = z.output<typeof Expected>[number]

const INTENTS: Record<string, readonly string[]> = {
  HassStartTimer: ['timer_set', 'later'],
  HassCancelTimer: ['timer_cancel'],
  HassCancelAllTimers: ['timer_cancel_all'],
  HassIncreaseTimer: ['timer_add'],
  HassDecreaseTimer: ['timer_reduce'],
  HassPauseTimer: ['timer_pause'],
  HassUnpauseTimer: ['timer_resume'],
  HassTimerStatus: ['timer_status'],
  HassGetCurrentTime: ['time'],
  HassGetCurrentDate: ['date'],
  HassShoppingListAddItem: ['list_add'],
  HassListAddItem: ['list_add'],
  HassShoppingListCompleteItem: ['list_complete', 'list_remove'],
  HassListCompleteItem: ['list_complete', 'list_remove'],
  HassListRemoveItem: ['list_complete', 'list_remove'],
  HassSetVolume: ['volume_set'],
  HassSetVolumeRelative: ['volume_change'],
  HassMediaPlayerMute: ['volume_mute'],
  HassMediaPlayerUnmute: ['volume_unmute'],
  HassMediaPause: ['media_pause'],
  HassMediaUnpause: ['media_resume'],
  HassMediaNext: ['media_next'],
  HassMediaPrevious: ['media_previous'],
  HassMediaSearchAndPlay: ['media_play'],
  HassTurnOn: ['turn_on'],
  HassTurnOff: ['turn_off'],
  HassNevermind: ['never_mind'],
}
const KINDS: Record<string, string> = { song: 'track', show: 'tv_show', channel: 'channel' }
const ROUNDS = 10
/** Where the one who speaks stands, which that test set adds where nothing is said. */
const HERE = 'Living Room'

const one = (value: unknown) => (Array.isArray(value) ? String(value[0]) : typeof value === 'string' ? value.trim() : undefined)
const same = (ours: unknown, theirs: unknown) =>
  [theirs].flat().some(
    (each) =>
      String(each).trim().toLowerCase() ===
      String(ours ?? '')
        .trim()
        .toLowerCase(),
  )
const milliseconds = (slots: Row['slots'], prefix: string) =>
  Number(slots[`${prefix}hours`] ?? 0) * 3_600_000 +
  Number(slots[`${prefix}minutes`] ?? 0) * 60_000 +
  Number(slots[`${prefix}seconds`] ?? 0) * 1_000

/** What is wrong with what was understood; null where nothing is. */
function fault({ intent, slots }: Row, understood: Understood | null): string | null {
  if (!understood) return 'not understood'
  if (!INTENTS[intent]?.includes(understood.intent)) return `taken for ${understood.intent}`
  const ours = understood.slots
  const wrong = (slot: string, value: unknown) => `${slot} is ${JSON.stringify(value)}`
  if (milliseconds(slots, '') !== Number(ours.durationMs ?? 0)) return wrong('duration', ours.durationMs)
  if (milliseconds(slots, 'start_') !== Number(ours.ofMs ?? 0)) return wrong('original duration', ours.ofMs)
  const name = ours.name ?? ours.box ?? ours.plug ?? (intent.startsWith('HassList') ? ours.list : undefined)
  if (slots.name !== undefined ? !same(name, slots.name) : name !== undefined) return wrong('name', name)
  const area = ours.area ?? (name === undefined && slots.area === HERE ? HERE : undefined)
  if (slots.area !== undefined ? !same(area, slots.area) : area !== undefined) return wrong('area', area)
  const item = ours.item ?? (Array.isArray(ours.items) ? ours.items.join(' and ') : undefined)
  if (slots.item !== undefined ? !same(item, slots.item) : item !== undefined) return wrong('item', item)
  if (slots.volume_level !== undefined && slots.volume_level !== ours.level) return wrong('level', ours.level)
  if (slots.volume_step !== undefined) {
    const step = typeof ours.by === 'number' ? (ours.direction === 'down' ? -ours.by : ours.by) : ours.direction
    if (!same(step, slots.volume_step)) return wrong('step', step)
  }
  if (slots.search_query !== undefined && !same(ours.query, slots.search_query)) return wrong('query', ours.query)
  if (slots.media_class !== undefined && !same(KINDS[String(ours.kind)] ?? ours.kind, slots.media_class)) return wrong('kind', ours.kind)
  if (slots.domain !== undefined && ours.plug === undefined && !same(ours.domain, slots.domain)) return wrong('domain', ours.domain)
  return null
}

/** The things of the house those sentences speak of. */
function contextOf(rows: readonly Row[]): UnderstandingContext {
  const named = (pattern: RegExp) => [
    ...new Set(rows.filter(({ intent }) => pattern.test(intent)).flatMap(({ slots }) => one(slots.name) ?? [])),
  ]
  const things = (pattern: RegExp) => named(pattern).map((name) => ({ id: name, name }))
  return {
    locale: 'en-US',
    timezone: 'America/New_York',
    now: new Date('2026-03-03T15:00:00Z'),
    names: {
      people: [],
      lists: ['Shopping list', ...named(/^HassList/)],
      timers: [],
      songs: [],
      playlists: [],
      plugs: things(/^HassTurn/),
      boxes: things(/^Hass(Media|SetVolume)/),
      cameras: [],
      areas: [...new Set(['Living Room', ...rows.flatMap(({ slots }) => one(slots.area) ?? [])])],
    },
  }
}

/** Sentences a second of this process's own time, and each sentence at its best round: a busy machine lengthens neither. */
function measureSpeed(sentences: readonly string[], context: UnderstandingContext): void {
  for (const sentence of sentences) understanding.understand(sentence, context)
  const best = sentences.map(() => Number.POSITIVE_INFINITY)
  const { user } = process.cpuUsage()
  for (let round = 0; round < ROUNDS; round++) {
    for (const [index, sentence] of sentences.entries()) {
      const began = performance.now()
      understanding.understand(sentence, context)
      best[index] = Math.min(best[index] ?? 0, performance.now() - began)
    }
  }
  const seconds = (process.cpuUsage().user - user) / 1e6
  report('sentences a second of CPU time', (sentences.length * ROUNDS) / seconds, '≥ 1000')
  report('a sentence in milliseconds, median', median(best), '< 5')
  report('a sentence in milliseconds, the slowest', Math.max(...best), '< 5')
}

const began = performance.now()
await understanding.prepare()
report('milliseconds until ready, in slices', performance.now() - began, '< 1000')

const missed = misses()
for (const line of missed) console.log(`  ${line}`)
report('our own sentences understood, or rightly not', 1 - missed.length / sentences.length, '≥ 0.98')
measureSpeed(
  sentences.map(({ say }) => say),
  house,
)

const [path] = process.argv.slice(2)
if (path && existsSync(path)) {
  const rows = Expected.parse(JSON.parse(readFileSync(path, 'utf8')))
  const context = contextOf(rows)
  const faults = rows.flatMap((row) => {
    const why = fault(row, understanding.understand(row.sentence, context))
    return why ? [`${row.sentence}: ${why}`] : []
  })
  for (const line of faults) console.log(`  ${line}`)
  report('home commands with the right intent and slots', 1 - faults.length / rows.length, '≥ 0.95')
  measureSpeed(
    rows.map(({ sentence }) => sentence),
    context,
  )
} else console.log('No file of home commands was named, so they are not measured.')
