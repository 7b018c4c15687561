import { fold } from '../tokens.ts'
import { type AnswerHelp, type Answers, type Slots, text } from './answer.ts'

const PLUGS = 'cannot_plugs'
const MOST = 20

/** The plugs that are meant; several only where all of a kind or of a room are. */
function meant({ plugId, area, domain }: Slots, { names, speech }: AnswerHelp) {
  if (typeof plugId === 'string') return names.plugs.filter(({ id }) => id === plugId)
  const room = fold(text(area))
  const kinds = domain === 'all' || domain === 'switch' ? [] : speech.say(`words_${text(domain)}`).split(' ')
  return names.plugs
    .filter(({ name }) => !room || fold(name).includes(room))
    .filter(({ name }) => kinds.length === 0 || kinds.some((kind) => fold(name).includes(kind)))
    .slice(0, MOST)
}

const turn = (action: string, key: string) => async (slots: Slots, help: AnswerHelp) => {
  const { speech, has, run, told } = help
  if (!has(action)) return speech.say(PLUGS)
  const plugs = meant(slots, help)
  if (plugs.length === 0) return speech.say('no_such_plug')
  if (plugs.length > 1 && !slots.all && !slots.area) return speech.say('which_plug', { plugs: speech.list(plugs.map(({ name }) => name)) })
  const said: string[] = []
  for (const { id, name } of plugs) said.push(told(await run(action, { deviceId: id }, PLUGS), key, { name }))
  return said.join(' ')
}

const notify = async (message: unknown, target: string, name: string, { run, told }: AnswerHelp) =>
  told(await run('send_notification', { title: text(message).slice(0, 200), target }, 'cannot_notify'), 'announced', {
    name,
    message: text(message),
  })

export const thingAnswers: Answers = {
  turn_on: turn('plug_on', 'turned_on'),
  turn_off: turn('plug_off', 'turned_off'),
  plug_status: async ({ plugId, plug }, help) =>
    help.told(await help.run('plug_status', { deviceId: plugId }, PLUGS), 'plug_state', { name: text(plug) }),
  camera_show: async ({ cameraId, camera }, help) =>
    help.told(await help.run('camera_snapshot', { cameraId }, 'cannot_cameras'), 'camera_shown', { name: text(camera) }),
  async camera_ask(_, { names, speech }) {
    return names.cameras.length === 0
      ? speech.say('cannot_cameras')
      : speech.say('which_camera', { cameras: speech.list(names.cameras.map(({ name }) => name)) })
  },
  announce: ({ message }, help) => notify(message, 'all', help.speech.say('everyone'), help),
  tell_person: ({ message, personId, person }, help) => notify(message, `person:${text(personId)}`, text(person), help),
  later: async (_, { speech }) => speech.say('not_later'),
}
