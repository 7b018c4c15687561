import { SMALL_TALK } from '../small-talk.ts'
import type { Answer, AnswerHelp, Answers } from './answer.ts'
import { silence } from './timers.ts'

const leftToModels: Answer = async () => null

/** Talk that asks for nothing to be done. What is said of the house's own doings is always the same, also where a model would talk. */
export const talkAnswers: Answers = {
  ...Object.fromEntries([...SMALL_TALK, 'look_up'].map((intent) => [intent, leftToModels])),
  /** Ends what rings, else the music. */
  async shut_up(_, help: AnswerHelp) {
    const silenced = await silence(help)
    if (silenced === null && help.has('stop_song')) await help.run('stop_song', {}, 'shut_up')
    return silenced ?? help.speech.say('shut_up')
  },
  are_you_ai: async (_, { speech }) => speech.say('are_you_ai'),
  listening: async (_, { speech }) => speech.say('listening'),
  delete_everything: async (_, { speech }) => speech.say('delete_everything'),
}
