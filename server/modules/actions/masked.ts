const SECRET_WORD = /pass(word|wd|phrase|code)?$|^pin$|token|secret|authori[sz]ation|cookie|credential/i
const SECRET_KEY = /(^k|K|[-_.]k|apik|privatek)ey$|KEY$/
const MASK = '•••'
const MAX_STRING = 500
const MAX_ENTRIES = 50
const MAX_DEPTH = 6

/** Takes credentials out of a text: bearer tokens, API keys, passwords in addresses, and query fields that name a secret. */
export const maskedText = (text: string): string =>
  text
    .replaceAll(/\b(Bearer|Basic)\s+[\w.~+/=-]{8,}/gi, `$1 ${MASK}`)
    .replaceAll(/\bhk_[\w-]{8,}/g, MASK)
    .replaceAll(/(\w:\/\/)[^\s/?#@]{1,300}@/g, `$1${MASK}@`)
    .replaceAll(/([?&][\w-]{0,40}(?:token|key|secret|password|auth)=)[^&\s#]{1,2000}/gi, `$1${MASK}`)

const cut = (text: string) => (text.length > MAX_STRING ? `${text.slice(0, MAX_STRING)}…` : text)

/** A copy of parameters for the audit: without what looks secret by its name or form, long texts and lists cut. */
export function masked(value: unknown, depth = 0): unknown {
  if (typeof value === 'string') return maskedText(cut(value))
  if (typeof value !== 'object' || value === null) return value
  if (depth >= MAX_DEPTH) return '…'
  if (Array.isArray(value)) return value.slice(0, MAX_ENTRIES).map((inner) => masked(inner, depth + 1))
  const entries: [string, unknown][] = []
  for (const name of Object.keys(value)) {
    if (entries.length === MAX_ENTRIES) break
    const inner = (value as Record<string, unknown>)[name]
    const isSecret = (SECRET_WORD.test(name) || SECRET_KEY.test(name)) && inner !== null && typeof inner !== 'boolean'
    entries.push([name.slice(0, MAX_STRING), isSecret ? MASK : masked(inner, depth + 1)])
  }
  return Object.fromEntries(entries)
}
