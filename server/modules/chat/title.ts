const MAX_LENGTH = 48
/** Of a text, so much is looked at. */
const MAX_READ = 500
const OPENING = /^(?:(?:hi|hello|hey|good (?:morning|afternoon|evening))\b[\s,!.]*(?:hearth\b[\s,!.]*)?|please\b[\s,]*)+/i

/** A title from the first exchange: the first sentence of the question without its greeting, else of the reply; empty where neither has a word. */
export function titleOf(question: string, reply: string): string {
  const line = (text: string) =>
    text
      .slice(0, MAX_READ)
      .toWellFormed()
      .replaceAll(/[#*_`>[\]()]/g, ' ')
      .replaceAll(/\s+/g, ' ')
      .trim()
  const source = line(question).replace(OPENING, '') || line(question)
  const wordy = /\p{L}|\p{N}/u.test(source) ? source : line(reply)
  const sentence = /^.*?[.!?](?=\s|$)/.exec(wordy)?.[0] ?? wordy
  const short = sentence.replace(/[.!]+$/, '')
  const cut = short.length > MAX_LENGTH ? `${short.slice(0, MAX_LENGTH).replace(/\s+\S*$/, '')}…` : short
  return /\p{L}|\p{N}/u.test(cut) ? cut[0]?.toLocaleUpperCase() + cut.slice(1) : ''
}
