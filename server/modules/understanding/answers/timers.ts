import { z } from 'zod'
import { Timer } from '../../timers/timers.contract.ts'
import { type AnswerHelp, type Answers, given, number, type Slots, text } from './answer.ts'

const Timers = z.array(Timer)
const NONE = 'cannot_timers'

/** Which timer is meant: by its name, else the room it was named for, or the time it was set for. */
const which = ({ name, area, ofMs }: Slots) => given({ name: name ?? area, durationMs: ofMs })

async function all({ run }: AnswerHelp): Promise<Timer[]> {
  const { data } = await run('list_timers', {}, NONE)
  return Timers.safeParse(data).data ?? []
}

const change = async (slots: Slots, help: AnswerHelp, params: Record<string, unknown>, key: string) =>
  help.told(await help.run('change_timer', { ...which(slots), ...params }, NONE), key, {
    duration: help.speech.duration(number(slots.durationMs) ?? 0),
  })

/** Says how it stands with a timer in a language of which the actions know nothing. */
function state({ name, kind, durationMs, endsAt, remainingMs, pausedAt }: Timer, { speech }: AnswerHelp): string {
  const values = {
    name: name ?? speech.say(kind, { duration: speech.duration(durationMs) }),
    left: speech.duration(remainingMs),
    time: speech.moment(endsAt),
  }
  if (remainingMs === 0) return speech.say('timer_rings', values)
  return speech.say(kind === 'alarm' ? 'alarm_at' : pausedAt ? 'timer_paused_with' : 'timer_left', values)
}

async function status(slots: Slots, help: AnswerHelp): Promise<string> {
  const wanted = text(slots.name ?? slots.area).toLowerCase()
  const timers = (await all(help)).filter(({ kind, rangAt }) => kind === 'timer' && !rangAt)
  const meant = timers.filter(
    ({ name, durationMs }) => (!wanted || name?.toLowerCase().includes(wanted)) && (slots.ofMs === undefined || durationMs === slots.ofMs),
  )
  if (meant.length === 0) return help.speech.say(timers.length === 0 ? 'no_timer' : 'no_such_timer')
  return meant.map((timer) => state(timer, help)).join(' ')
}

export const timerAnswers: Answers = {
  timer_set: async ({ durationMs, name }, help) =>
    help.told(await help.run('set_timer', given({ durationMs, name }), NONE), name ? 'timer_set_named' : 'timer_set', {
      name: text(name),
      duration: help.speech.duration(number(durationMs) ?? 0),
    }),
  timer_ask: async (_, { speech }) => speech.say('timer_how_long'),
  timer_cancel: async (slots, help) => help.told(await help.run('cancel_timer', which(slots), NONE), 'timer_cancelled'),
  async timer_cancel_all(_, help) {
    const result = await help.run('cancel_timer', { all: true }, NONE)
    const count = Array.isArray(result.data) ? result.data.length : 0
    return help.told(result, count === 0 ? 'no_timer' : 'timers_cancelled', { count })
  },
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
  async alarm_cancel(slots, help) {
    const alarms = (await all(help)).filter(({ kind }) => kind === 'alarm')
    const [first] = alarms
    if (!first) return help.speech.say('no_alarm')
    for (const { id } of slots.all ? alarms : [first]) await help.run('cancel_timer', { id }, NONE)
    const many = slots.all && alarms.length > 1
    return help.speech.say(many ? 'alarms_cancelled' : 'alarm_cancelled', { time: help.speech.moment(first.endsAt) })
  },
  async alarm_status(_, help) {
    const alarms = (await all(help)).filter(({ kind, rangAt }) => kind === 'alarm' && !rangAt)
    return alarms.length === 0 ? help.speech.say('no_alarm') : alarms.map((alarm) => state(alarm, help)).join(' ')
  },
}

/** Ends what rings now; null where nothing does. */
export async function silence(help: AnswerHelp): Promise<string | null> {
  if (!help.has('list_timers')) return null
  const ringing = (await all(help)).filter(({ remainingMs }) => remainingMs === 0)
  const now = help.speech.now().toMillis()
  const heard = ringing.filter(({ rangAt }) => rangAt && now - Date.parse(rangAt) < 120_000)
  for (const { id } of heard) await help.run('cancel_timer', { id }, NONE)
  return heard.length > 0 ? help.speech.say('silenced') : null
}
