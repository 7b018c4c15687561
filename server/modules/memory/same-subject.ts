import { wordsOf } from './ranking/words.ts'

/** Of a text whose words stand one space apart; runs of them would be looked through again and again. */
const STATEMENT = /^(.{2,80}?) (?:is|are|ist|sind|lautet|lauten) (.{1,200}?) ?[.!]?$/iu
/** Longer texts say more than one thing. */
const MAX_TEXT = 400
const ARTICLE = new Set(['the', 'a', 'an', 'my', 'our', 'your', 'der', 'die', 'das', 'mein', 'meine', 'unser', 'unsere'])
const POINTING = new Set('it this that there here he she they we i you what who where when es er sie wir ich du dies hier da'.split(' '))

export interface Statement {
  /** The same for the same subject, however it is written. */
  subject: string
  value: string
}

/** What a plain sentence says of what: “The boiler code is 4711”. Null for everything else. */
export function statementIn(text: string): Statement | null {
  if (text.length > MAX_TEXT || /[\n?]/.test(text)) return null
  const [, about = '', value = ''] = STATEMENT.exec(text.trim().replaceAll(/\s+/g, ' ')) ?? []
  if (/[.!;:] /.test(about)) return null
  const words = wordsOf(about).filter((word) => !ARTICLE.has(word))
  if (words.length === 0 || words.some((word) => POINTING.has(word))) return null
  return { subject: words.join(' '), value: wordsOf(value).join(' ') }
}

const hasNumber = (text: string) => /\p{N}/u.test(text)

/**
 * Whether the newer of two statements contradicts the older: of the same subject they say something else of the same kind, either both a
 * number, or of a subject narrow enough (a boiler code, somebody’s shoe size) to have one value at a time. “Anna is in Berlin” leaves
 * “Anna is allergic to nuts” as it is.
 */
export function contradicts(newer: Statement, older: Statement): boolean {
  if (newer.subject !== older.subject || newer.value === older.value) return false
  if (hasNumber(newer.value) && hasNumber(older.value)) return true
  return newer.subject.includes(' ') && hasNumber(newer.value) === hasNumber(older.value)
}
