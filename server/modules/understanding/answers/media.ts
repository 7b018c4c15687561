import { fold } from '../tokens.ts'
import { type AnswerHelp, type Answers, given, number, type Slots, text } from './answer.ts'
import { hasOwnTimer, silence, timerAnswers } from './timers.ts'

const MUSIC = 'cannot_music'
const VOLUME = 'cannot_volume'
const STEP = 10

/** The box that is meant: by its name, or the one that is named for the room. */
function box({ boxId, area }: Slots, { names }: AnswerHelp): string | undefined {
  if (typeof boxId === 'string') return boxId
  const room = fold(text(area))
  return room ? names.boxes.find(({ name }) => fold(name).includes(room))?.id : undefined
}

const plainly = (action: string, key: string) => async (slots: Slots, help: AnswerHelp) =>
  help.told(await help.run(action, given({ deviceId: box(slots, help) }), MUSIC), key)

async function setLevel(level: number, slots: Slots, help: AnswerHelp): Promise<string> {
  return help.told(await help.run('set_volume', given({ level, deviceId: box(slots, help) }), VOLUME), 'volume_set', { level })
}

export const mediaAnswers: Answers = {
  async media_play(slots, help) {
    const { songId, song, playlist, query } = slots
    const params = given({ songId, query: songId ? undefined : (playlist ?? query), deviceId: box(slots, help) })
    return help.told(await help.run('play_song', params, MUSIC), 'playing', {
      title: text(song ?? playlist ?? query) || help.speech.say('music'),
    })
  },
  media_pause: plainly('pause_song', 'paused'),
  media_resume: plainly('resume_song', 'resumed'),
  media_next: plainly('next_song', 'skipped'),
  media_previous: plainly('previous_song', 'went_back'),
  /** What rings, then the music; a bare “stop” where there is none means the timer. */
  async media_stop({ bare, ...slots }, help) {
    const silenced = await silence(help)
    if (silenced !== null) return silenced
    if (bare && !help.has('stop_song') && (await hasOwnTimer(help))) return timerAnswers.timer_cancel?.({}, help) ?? null
    return plainly('stop_song', 'stopped')(slots, help)
  },
  media_what: plainly('what_is_playing', 'playing_this'),
  volume_set: (slots, help) => setLevel(number(slots.level) ?? 0, slots, help),
  async volume_change(slots, help) {
    const by = (number(slots.by) ?? STEP) * (slots.direction === 'down' ? -1 : 1)
    if (!help.has('change_volume') && help.has('set_volume')) return help.speech.say('volume_which')
    return help.told(await help.run('change_volume', given({ by, deviceId: box(slots, help) }), VOLUME), 'volume_changed')
  },
  volume_mute: (slots, help) => setLevel(0, slots, help),
  async volume_unmute(_, help) {
    return help.speech.say(help.has('set_volume') ? 'volume_which' : VOLUME)
  },
}
