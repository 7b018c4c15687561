import { z } from 'zod'
import { AppError } from '../../../kit/errors.ts'
import { Timer } from '../../timers/timers.contract.ts'
import { type AnswerHelp, type Answers, given, number, type Slots, text } from './answer.ts'

/** `owner` names whose it is where it is not the speaker's. */
const Timers = z.array(Timer.extend({ owner: z.string().optional() }))
type Told = z.output<typeof Timers>[number]
const NONE = 'cannot_timers'

/** Which timer is meant: by its name, else the room it was named for, or the time it was set for. */
const which = ({ name, area, ofMs }: Slots) => given({ name: name ?? area, durationMs: ofMs })

async function all({ run }: AnswerHelp, kind?: Told['kind']): Promise<Told[]> {
  const { data } = await run('list_timers', given({ kind }), NONE)
  return Timers.safeParse(data).data ?? []
}

/** What a timer is called in a language of which the actions know nothing. */
function called({ name, kind, durationMs, owner }: Told, { speech }: AnswerHelp): string {
  const called = name ?? speech.say(kind, { duration: speech.duration(durationMs) })
  return owner === undefined ? called : speech.say('of_owner', { name: called, owner })
}

/** The same, an alarm with when it rings. */
function meant(timer: Told, help: AnswerHelp): string {
  const name = called(timer, help)
  return timer.kind === 'alarm' ? help.speech.say('alarm_meant', { name, time: help.speech.moment(timer.endsAt) }) : name
}

/** Says in other languages than the actions’ own which one is to be named, or whose they are. */
async function asking(help: AnswerHelp, kind: Told['kind'], act: () => Promise<string>): Promise<string> {
  try {
    return await act()
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    const isOwnWord = error.code === 'which_timer' && kind === 'alarm' // by the time they ring
    if (help.speech.language === 'en' && !isOwnWord) throw error
    if (!['which_timer', 'only_others', 'others_alarm'].includes(error.code)) throw error
    const timers = await all(help, kind)
    const own = timers.filter(({ owner }) => owner === undefined)
    const named = (some: Told[]) => help.speech.list(some.map((timer) => called(timer, help)))
    return error.code === 'which_timer'
      ? help.speech.say('which_timer', { timers: help.speech.either((own.length > 0 ? own : timers).map((timer) => meant(timer, help))) })
      : help.speech.say('others_timers', { timers: named(timers.filter(({ owner }) => owner !== undefined)) })
  }
}

const change = (slots: Slots, help: AnswerHelp, params: Record<string, unknown>, key: string) =>
  asking(help, 'timer', async () =>
    help.told(await help.run('change_timer', { ...which(slots), ...params }, NONE), key, {
      duration: help.speech.duration(number(slots.durationMs) ?? 0),
    }),
  )

/** Says how it stands with a timer in a language of which the actions know nothing. */
function state(timer: Told, help: AnswerHelp): string {
  const { speech } = help
  const { kind, endsAt, remainingMs, pausedAt } = timer
  const values = { name: called(timer, help), left: speech.duration(remainingMs), time: speech.moment(endsAt) }
  if (remainingMs === 0) return speech.say('timer_rings', values)
  return speech.say(kind === 'alarm' ? 'alarm_at' : pausedAt ? 'timer_paused_with' : 'timer_left', values)
}

/** Whether `wanted` is a part of its name, or names whose it is. */
function isNamed({ name = '', owner }: Told, wanted: string): boolean {
  const ofOwner = owner !== undefined && wanted.startsWith(owner.toLowerCase())
  const rest = ofOwner ? wanted.slice(owner.length).replace(/^['’]?s?\s*/, '') : wanted
  return name.toLowerCase().includes(rest)
}

/** The speaker’s own, else others’ with whose they are. */
const nearest = (timers: readonly Told[]): readonly Told[] => {
  const own = timers.filter(({ owner }) => owner === undefined)
  return own.length > 0 ? own : timers
}

async function status(slots: Slots, help: AnswerHelp): Promise<string> {
  const wanted = text(slots.name ?? slots.area).toLowerCase()
  const timers = (await all(help, 'timer')).filter(({ rangAt }) => !rangAt)
  const meant = timers.filter(
    (timer) => (!wanted || isNamed(timer, wanted)) && (slots.ofMs === undefined || timer.durationMs === slots.ofMs),
  )
  if (meant.length === 0) return help.speech.say(timers.length === 0 ? 'no_timer' : 'no_such_timer')
  const told = slots.all ? meant : nearest(meant)
  const none = told[0]?.owner !== undefined && !wanted ? [help.speech.say('no_own_timer')] : []
  return [...none, ...told.map((timer) => state(timer, help))].join(' ')
}

/** The alarm at a time of day, where one was said. */
function alarmAt(alarms: readonly Told[], at: unknown, { speech }: AnswerHelp): readonly Told[] {
  if (at === undefined) return alarms
  return alarms.filter(({ endsAt }) => speech.time(endsAt) === speech.time(text(at)))
}

async function cancelAlarm({ all: every, at, personId }: Slots, help: AnswerHelp): Promise<string> {
  const { speech, run, told } = help
  const time = (data: unknown) => ({ time: speech.moment(Timers.safeParse([data].flat()).data?.[0]?.endsAt ?? speech.now().toJSDate()) })
  if (every) {
    const result = await run('cancel_timer', { kind: 'alarm', all: true }, NONE)
    const many = Array.isArray(result.data) ? result.data.length : 0
    return told(result, many === 0 ? 'no_alarm' : many === 1 ? 'alarm_cancelled' : 'alarms_cancelled', time(result.data))
  }
  if (at !== undefined) {
    const own = (await all(help, 'alarm')).filter(({ owner }) => owner === undefined)
    const [one] = alarmAt(own, at, help)
    if (!one) return speech.say('no_alarm')
    return told(await run('cancel_timer', { id: one.id }, NONE), 'alarm_cancelled', { time: speech.moment(one.endsAt) })
  }
  const result = await run('cancel_timer', given({ kind: 'alarm', personId }), NONE)
  return told(result, 'alarm_cancelled', time(result.data))
}

export const timerAnswers: Answers = {
  timer_set: async ({ durationMs, name, negative }, help) => {
    if (negative) return help.speech.say('timer_negative')
    return help.told(await help.run('set_timer', given({ durationMs, name }), NONE), name ? 'timer_set_named' : 'timer_set', {
      name: text(name),
      duration: help.speech.duration(number(durationMs) ?? 0),
    })
  },
  timer_ask: async (_, { speech }) => speech.say('timer_how_long'),
  timer_cancel: (slots, help) =>
    asking(help, 'timer', async () => help.told(await help.run('cancel_timer', which(slots), NONE), 'timer_cancelled')),
  timer_cancel_all: ({ alarms }, help) =>
    asking(help, 'timer', async () => {
      const result = await help.run('cancel_timer', { all: true }, NONE)
      const count = Array.isArray(result.data) ? result.data.length : 0
      const said = help.told(result, count === 0 ? 'no_timer' : 'timers_cancelled', { count })
      return alarms ? `${said} ${await asking(help, 'alarm', () => cancelAlarm({ all: alarms }, help))}` : said
    }),
  timer_add: (slots, help) => change(slots, help, { addMs: slots.durationMs }, 'timer_added'),
  timer_reduce: (slots, help) => change(slots, help, { addMs: -Number(slots.durationMs) }, 'timer_reduced'),
  timer_pause: (slots, help) => change(slots, help, { paused: true }, 'timer_paused'),
  timer_resume: (slots, help) => change(slots, help, { paused: false }, 'timer_resumed'),
  timer_status: status,
  async alarm_set({ endsAt, name, recurrence }, help) {
    const { speech, run, told } = help
    if (endsAt === undefined) return speech.say('alarm_when')
    const said = told(await run('set_timer', given({ endsAt, name }), NONE), 'alarm_set', { time: speech.moment(text(endsAt)) })
    return recurrence ? `${said} ${speech.say('alarm_once')}` : said
  },
  alarm_ask: async (_, { speech }) => speech.say('alarm_when'),
  alarm_cancel: (slots, help) => asking(help, 'alarm', () => cancelAlarm(slots, help)),
  async alarm_status(_, help) {
    const alarms = (await all(help, 'alarm')).filter(({ rangAt }) => !rangAt)
    const told = nearest(alarms)
    const none = told[0]?.owner === undefined && told.length > 0 ? [] : [help.speech.say('no_alarm')]
    return [...none, ...told.map((alarm) => state(alarm, help))].join(' ')
  },
}

/** Whether a timer of the speaker's is running. */
export const hasOwnTimer = async (help: AnswerHelp): Promise<boolean> =>
  help.has('list_timers') && (await all(help, 'timer')).some(({ owner, rangAt }) => owner === undefined && !rangAt)

/** Ends what rings now; null where nothing does. */
export async function silence(help: AnswerHelp): Promise<string | null> {
  if (!help.has('list_timers')) return null
  const now = help.speech.now().toMillis()
  const heard = (await all(help)).filter(
    ({ remainingMs, rangAt, owner, kind, deviceId }) =>
      remainingMs === 0 &&
      rangAt &&
      now - Date.parse(rangAt) < 120_000 &&
      (owner === undefined || (kind === 'timer' && deviceId === help.call.caller.deviceId)),
  )
  for (const { id } of heard) await help.run('cancel_timer', { id }, NONE)
  return heard.length > 0 ? help.speech.say('silenced') : null
}
