import type { ToolCall } from './chat.contract.ts'

/** Replies of the house that a question is made of, by their names. */
export type AskingReply = 'ask_one' | 'ask_several' | 'ask_foreign' | 'ask_given' | 'ask_whole' | 'quoted'
export type Say = (reply: AskingReply, values: Readonly<Record<string, string>>) => string

const FOREIGN = /^mcp\.([^.]+)\.(.+)$/
const UUID = /^[\da-f]{8}-(?:[\da-f]{4}-){3}[\da-f]{12}$/i
const MAX_VALUE = 120
const MAX_DETAILS = 8

/** A name as programs write it, as a person would: `remove_event` becomes `Remove event`. */
function nameWords(name: string): string {
  const words = name
    .replaceAll(/([a-z])([A-Z])/g, '$1 $2')
    .split(/[\s._-]+/)
    .filter(Boolean)
    .join(' ')
    .toLowerCase()
  return words.charAt(0).toUpperCase() + words.slice(1)
}

/** On one line, without what would end the quotes around it. */
function inOneLine(text: string): string {
  const line = text
    .toWellFormed() // what is stored is, and a question is known again by its text
    .replaceAll(/[“”„"]/g, '’')
    .replaceAll(/[\p{Cc}\p{Cf}\u2028\u2029\s]+/gu, ' ')
    .trim()
  return line.length > MAX_VALUE ? `${line.slice(0, MAX_VALUE).toWellFormed()}…` : line
}

const isId = (value: unknown) => typeof value === 'string' && UUID.test(value)
const isTold = (value: unknown) => value !== undefined && value !== null && value !== ''

function details({ params, about }: ToolCall, say: Say): string {
  const given = typeof params === 'object' && params !== null ? Object.entries(params) : []
  const told = given
    .filter(([, value]) => isTold(value) && !(about && isId(value)))
    .map(([name, value]) => {
      const text = typeof value === 'string' ? value : JSON.stringify(value)
      return `${nameWords(inOneLine(name)).toLowerCase()}: ${say('quoted', { text: inOneLine(text) })}`
    })
  const more = told.length > MAX_DETAILS ? ['…'] : []
  return [...(about ? [say('quoted', { text: inOneLine(about) })] : []), ...told.slice(0, MAX_DETAILS), ...more].join('; ')
}

function whatOf(call: ToolCall, say: Say): string {
  const [, server, tool] = FOREIGN.exec(call.name) ?? []
  const own = say('quoted', { text: nameWords(tool ?? call.name) })
  const what = server === undefined ? own : say('ask_foreign', { tool: own, server: say('quoted', { text: server }) })
  const given = details(call, say)
  return given === '' ? what : say('ask_given', { what, given })
}

/** The house's own question for what waits for a word: what it is, of whom, with what, and how to answer. Empty where nothing waits. */
export function askingWords(calls: readonly ToolCall[], say: Say): string {
  const asking = calls.filter(({ status }) => status === 'asking').map((call) => whatOf(call, say))
  const [first] = asking
  if (first === undefined) return ''
  if (asking.length === 1) return say('ask_one', { what: first })
  return say('ask_several', { what: asking.map((what) => `\n- ${what}`).join('') })
}
