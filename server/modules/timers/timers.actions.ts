import { z } from 'zod'
import { type Action, action } from '../../kit/actions.ts'
import { closest } from '../../kit/closest.ts'
import { AppError, invalid } from '../../kit/errors.ts'
import { instantOf, spokenDuration, spokenList, spokenMoment } from '../../kit/spoken-time.ts'
import type { HouseholdService } from '../household/household.service.ts'
import { Duration, MAX_MS, type Timer, TimerName } from './timers.contract.ts'
import type { TimersService } from './timers.service.ts'

export interface TimerActionsDeps {
  timers: TimersService
  household: HouseholdService
}

const which = { id: z.uuid().optional(), name: TimerName.optional(), durationMs: Duration.optional() }
const SetInput = z.strictObject({
  durationMs: Duration.optional().describe('Milliseconds, for a timer.'),
  endsAt: z.iso.datetime({ offset: true, local: true }).optional().describe('For an alarm; without an offset in the household’s time.'),
  name: TimerName.optional(),
})
const ChangeInput = z.strictObject({
  ...which,
  durationMs: which.durationMs.describe('Which one, by the time it was set for.'),
  addMs: z.number().int().min(-MAX_MS).max(MAX_MS).optional().describe('Milliseconds more, or with a minus less.'),
  paused: z.boolean().optional(),
})
const CancelInput = z.strictObject({ ...which, all: z.boolean().optional() })

type Wanted = Omit<z.output<typeof CancelInput>, 'all'>

/** A bell is heard for so long. */
const RINGING_MS = 120_000
const isRinging = ({ remainingMs, rangAt }: Timer) => remainingMs === 0 && (!rangAt || Date.now() - Date.parse(rangAt) < RINGING_MS)

/** What can be done with timers and alarms, each told in a sentence. */
export function createTimerActions({ timers, household }: TimerActionsDeps): Action[] {
  const place = () => household.get().household

  /** “pizza timer”, “5 minutes timer”, “alarm”. */
  function nameOf({ name, kind, durationMs }: Timer): string {
    if (name) return /\b(?:timer|alarm)$/i.test(name) ? name : `${name} ${kind}`
    return kind === 'alarm' ? 'alarm' : `${spokenDuration(durationMs).replaceAll(/(\d+ (?:day|hour|minute|second))s\b/g, '$1')} timer`
  }

  function state(timer: Timer): string {
    const { kind, endsAt, pausedAt, rangAt, remainingMs } = timer
    if (isRinging(timer)) return 'is ringing'
    if (rangAt) return `rang ${spokenMoment(rangAt, place())}`
    if (kind === 'alarm') return `rings ${spokenMoment(endsAt, place())}`
    return `${pausedAt ? 'is paused with' : 'has'} ${spokenDuration(remainingMs)} left`
  }

  const told = (timer: Timer) => `Your ${nameOf(timer)} ${state(timer)}.`

  /** The one that is meant; those that go on before those that rang. Throws 404 with a sentence that can be said. */
  function find({ id, name, durationMs }: Wanted): Timer {
    if (id) return timers.get(id)
    const all = timers.list()
    if (all.length === 0) throw new AppError(404, 'not_found', 'There is no timer.')
    const bare = name?.replace(/\s*\b(?:timer|alarm)$/i, '')
    const named = bare ? closest(bare, all, (timer) => timer.name?.replace(/\s*\b(?:timer|alarm)$/i, '') ?? '') : null
    if (bare && !named) throw new AppError(404, 'not_found', `There is no timer named “${name}”.`)
    if (named) return named
    const [next] = durationMs === undefined ? all : timers.listOf(durationMs)
    if (!next) throw new AppError(404, 'not_found', `There is no timer for ${spokenDuration(durationMs ?? 0)}.`)
    return next
  }

  /** Whoever says “stop the timer” while one rings means that one. */
  function findToCancel(wanted: Wanted): Timer {
    const isOpen = !wanted.id && !wanted.name && wanted.durationMs === undefined
    const ringing = isOpen ? timers.list().find((timer) => isRinging(timer)) : undefined
    return ringing ?? find(wanted)
  }

  async function cancelAll(): Promise<Timer[]> {
    const removed: Timer[] = []
    for (const { id } of timers.list()) removed.push(await timers.remove(id))
    return removed
  }

  return [
    action({
      name: 'set_timer',
      description: 'Set a timer by its duration, or an alarm by when it rings',
      input: SetInput,
      risk: 'low',
      async run({ endsAt, ...input }, { caller }) {
        const at = endsAt === undefined ? null : instantOf(endsAt, place())
        if (endsAt !== undefined && at === null) throw invalid([{ path: 'body.endsAt', message: 'is no moment' }])
        const timer = await timers.create(caller, { ...input, ...(at !== null && { endsAt: at }) })
        const name = timer.name ? nameOf(timer) : timer.kind
        return {
          output: timer.kind === 'alarm' ? told(timer) : `Your ${name} is set for ${spokenDuration(timer.durationMs)}.`,
          data: timer,
        }
      },
    }),
    action({
      name: 'change_timer',
      description: 'Pause or go on with a timer, or give it more or less time; without id, name or duration the next to ring',
      input: ChangeInput,
      risk: 'low',
      async run({ addMs, paused, ...wanted }) {
        const timer = await timers.update(find(wanted).id, { addMs, paused })
        return { output: told(timer), data: timer }
      },
    }),
    action({
      name: 'cancel_timer',
      description: 'Cancel a timer or alarm, or end its ringing; without id, name or duration the next to ring, or all',
      input: CancelInput,
      risk: 'low',
      async run({ all, ...wanted }) {
        if (!all) {
          const timer = await timers.remove(findToCancel(wanted).id)
          return { output: `I ${timer.remainingMs === 0 ? 'turned off' : 'cancelled'} your ${nameOf(timer)}.`, data: timer }
        }
        const removed = await cancelAll()
        const count = removed.length === 1 ? 'the one timer there was' : `all ${removed.length} timers`
        return { output: removed.length === 0 ? 'There is no timer to cancel.' : `I cancelled ${count}.`, data: removed }
      },
    }),
    action({
      name: 'list_timers',
      description: 'Tell which timers and alarms run and how much time they have left',
      input: z.strictObject({}),
      risk: 'low',
      async run() {
        const all = timers.list()
        const [only] = all
        if (!only) return { output: 'There is no timer.', data: all }
        return {
          output:
            all.length === 1
              ? told(only)
              : `There are ${all.length}: ${spokenList(all.map((timer) => `the ${nameOf(timer)} ${state(timer)}`))}.`,
          data: all,
        }
      },
    }),
  ]
}
