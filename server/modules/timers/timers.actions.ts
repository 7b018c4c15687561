import { z } from 'zod'
import { type Action, action } from '../../kit/actions.ts'
import type { Caller } from '../../kit/caller.ts'
import { AppError, conflict, forbidden, invalid, notFound } from '../../kit/errors.ts'
import { instantOf, spokenDuration, spokenList, spokenMoment } from '../../kit/spoken-time.ts'
import type { HouseholdService } from '../household/household.service.ts'
import { Duration, MAX_MS, type Timer, TimerName } from './timers.contract.ts'
import type { OwnedTimer, TimersService } from './timers.service.ts'
import { isOwn, mayChange, named, ownerOf } from './whose-timer.ts'

export interface TimerActionsDeps {
  timers: TimersService
  household: HouseholdService
}

const Kind = z.enum(['timer', 'alarm'])
const which = {
  id: z.uuid().optional(),
  name: TimerName.optional().describe('Such as `pizza`; with whose it is for another’s, such as `Ben’s tea`.'),
  durationMs: Duration.optional(),
  personId: z.uuid().optional().describe('Whose; one’s own unless stated.'),
  kind: Kind.optional().describe('A timer unless stated.'),
}
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
const CancelInput = z.strictObject({ ...which, all: z.boolean().optional().describe('All of one’s own of that kind.') })

type Wanted = Omit<z.output<typeof CancelInput>, 'all'>

/** A bell is heard for so long. */
const RINGING_MS = 120_000
const isRinging = ({ remainingMs, rangAt }: Timer) => remainingMs === 0 && (!rangAt || Date.now() - Date.parse(rangAt) < RINGING_MS)

const possessive = (name: string) => `${name}’s`
const capital = (text: string) => text.charAt(0).toUpperCase() + text.slice(1)

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

  const persons = () => household.get().persons
  const whose = (one: OwnedTimer, caller: Caller) => (isOwn(one, caller) ? 'your' : possessive(ownerOf(one, persons())))
  const called = (one: OwnedTimer, caller: Caller) => `${whose(one, caller)} ${nameOf(one.timer)}`
  const told = (one: OwnedTimer, caller: Caller) => `${capital(called(one, caller))} ${state(one.timer)}.`

  /** Where only others have one: whose they are, and how to mean them. */
  function onlyOthers(others: readonly OwnedTimer[], kind: Timer['kind'], caller: Caller, verb = 'cancel'): AppError {
    const [first] = others
    if (!first) return new AppError(404, 'not_found', `There is no ${kind}.`)
    const owners = [...new Set(others.map((one) => possessive(ownerOf(one, persons()))))]
    const those = others.length === 1 ? `There is ${called(first, caller)}.` : `Those are ${spokenList(owners)}.`
    const how = mayChange(first, caller) ? ` Say: ${verb} ${called(first, caller)}.` : ''
    return new AppError(404, 'only_others', `You have no ${kind}. ${those}${how}`)
  }

  /** The one of several that goes on; which of them is asked for. Throws 404 and 409 with a sentence that can be said. */
  function only(found: readonly OwnedTimer[], caller: Caller): OwnedTimer {
    const going = found.filter(({ timer }) => !timer.rangAt)
    const [one, ...more] = going.length > 0 ? going : found
    if (!one) throw new AppError(404, 'not_found', 'There is no such timer.')
    if (more.length === 0 || going.length === 0) return one
    const names = going.map((each) => (isOwn(each, caller) ? `the ${nameOf(each.timer)}` : called(each, caller)))
    throw conflict('which_timer', `Which one: ${names.slice(0, -1).join(', ')} or ${names.at(-1)}?`)
  }

  function find({ id, name, durationMs, personId, kind = 'timer' }: Wanted, caller: Caller, verb = 'cancel'): OwnedTimer {
    const all = timers.listOwned()
    if (id) {
      const one = all.find(({ timer }) => timer.id === id)
      if (!one) throw notFound('This timer')
      return one
    }
    if (all.length === 0) throw new AppError(404, 'not_found', `There is no ${kind}.`)
    if (name) {
      const found = named(name, all, caller, persons())
      if (found.length > 0) return only(found, caller)
      throw new AppError(404, 'not_found', `There is no timer named “${name}”.`)
    }
    const ofKind = all.filter(({ timer }) => timer.kind === kind)
    const theirs = ofKind.filter((one) => (personId === undefined ? isOwn(one, caller) : one.personId === personId))
    if (durationMs === undefined) {
      if (theirs.length > 0) return only(theirs, caller)
      throw onlyOthers(ofKind, kind, caller, verb)
    }
    const isOf = ({ timer, setMs }: OwnedTimer) => setMs === durationMs || timer.durationMs === durationMs
    const found = theirs.filter(isOf)
    if (found.length > 0) return found.find(({ timer }) => !timer.name) ?? (found[0] as OwnedTimer)
    const others = ofKind.filter(isOf)
    throw others.length > 0
      ? onlyOthers(others, kind, caller, verb)
      : new AppError(404, 'not_found', `There is no timer for ${spokenDuration(durationMs)}.`)
  }

  /** Whoever says “stop the timer” while one rings means that one, their own first. */
  function findToCancel(wanted: Wanted, caller: Caller): OwnedTimer {
    const isOpen = [wanted.id, wanted.name, wanted.durationMs, wanted.personId].every((said) => said === undefined)
    const isMeant = ({ timer }: OwnedTimer) => isRinging(timer) && (wanted.kind === undefined || timer.kind === wanted.kind)
    const ringing = isOpen ? timers.listOwned().filter(isMeant) : []
    const own = ringing.find((one) => isOwn(one, caller))
    return own ?? ringing.find((one) => one.timer.deviceId === caller.deviceId && mayChange(one, caller)) ?? find(wanted, caller)
  }

  /** Throws 403 for another's alarm. */
  function change(one: OwnedTimer, caller: Caller): OwnedTimer {
    if (!mayChange(one, caller)) throw forbidden(`That is ${called(one, caller)}; only an admin may change it.`, 'others_alarm')
    return one
  }

  /** What was cancelled, of one's own. Throws 404 where only others have some. */
  async function cancelAll(kind: Timer['kind'], caller: Caller): Promise<Timer[]> {
    const ofKind = timers.listOwned().filter(({ timer }) => timer.kind === kind)
    const own = ofKind.filter((one) => isOwn(one, caller))
    if (own.length === 0 && ofKind.length > 0) throw onlyOthers(ofKind, kind, caller)
    const removed: Timer[] = []
    for (const { timer } of own) removed.push(await timers.remove(timer.id))
    return removed
  }

  /** Own ones as they were said ever, then others' by whose they are. */
  function listed(all: readonly OwnedTimer[], caller: Caller): string {
    const own = all.filter((one) => isOwn(one, caller))
    const [first] = own
    const mine =
      own.length > 1
        ? `There are ${own.length}: ${spokenList(own.map(({ timer }) => `the ${nameOf(timer)} ${state(timer)}`))}.`
        : first && told(first, caller)
    const others = all.filter((one) => !isOwn(one, caller)).map((one) => told(one, caller))
    if (all.length === 0) return 'There is no timer.'
    return [mine ?? 'You have no timer.', ...others].join(' ')
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
          output:
            timer.kind === 'alarm'
              ? `Your ${nameOf(timer)} ${state(timer)}.`
              : `Your ${name} is set for ${spokenDuration(timer.durationMs)}.`,
          data: timer,
        }
      },
    }),
    action({
      name: 'change_timer',
      description: 'Pause or go on with a timer, or give it more or less time; without id, name or duration the one of one’s own',
      input: ChangeInput,
      risk: 'low',
      async run({ addMs, paused, ...wanted }, { caller }) {
        const verb = paused === undefined ? 'change' : paused ? 'pause' : 'resume'
        const one = change(find(wanted, caller, verb), caller)
        const timer = await timers.update(one.timer.id, { addMs, paused })
        return { output: told({ ...one, timer }, caller), data: timer }
      },
    }),
    action({
      name: 'cancel_timer',
      description: 'Cancel a timer or alarm, or end its ringing; without id, name or duration the one of one’s own, or all of those',
      input: CancelInput,
      risk: 'low',
      async run({ all, ...wanted }, { caller }) {
        if (!all) {
          const one = change(findToCancel(wanted, caller), caller)
          const timer = await timers.remove(one.timer.id)
          const how = timer.remainingMs === 0 ? 'turned off' : 'cancelled'
          return { output: `I ${how} ${called({ ...one, timer }, caller)}.`, data: timer }
        }
        const { kind = 'timer' } = wanted
        const removed = await cancelAll(kind, caller)
        const [first] = removed
        const count = removed.length === 1 && first ? `your ${nameOf(first)}` : `all your ${removed.length} ${kind}s`
        return { output: removed.length === 0 ? `There is no ${kind} to cancel.` : `I cancelled ${count}.`, data: removed }
      },
    }),
    action({
      name: 'list_timers',
      description: 'Tell which timers and alarms run and how much time they have left, one’s own first',
      input: z.strictObject({ kind: Kind.optional() }),
      risk: 'low',
      async run({ kind }, { caller }) {
        const all = timers.listOwned().filter(({ timer }) => kind === undefined || timer.kind === kind)
        const inTurn = all.toSorted((a, b) => Number(isOwn(b, caller)) - Number(isOwn(a, caller)))
        const data = inTurn.map((one) => ({ ...one.timer, ...(!isOwn(one, caller) && { owner: ownerOf(one, persons()) }) }))
        return { output: listed(inTurn, caller), data }
      },
    }),
  ]
}
