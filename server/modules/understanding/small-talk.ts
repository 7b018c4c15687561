/** What a language model answers better, of which nothing is asked for; where there is none, each has a line of its own by its name. */
export const SMALL_TALK: ReadonlySet<string> = new Set([
  'feeling_bad',
  'someone_unwell',
  'bored',
  'wishes',
  'feeling_good',
  'love_you',
  'insult',
  'joke',
  'sorry',
  'bare_answer',
  'acknowledged',
])
