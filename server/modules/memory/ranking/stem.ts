const DOUBLE_SUFFIXES: Record<string, string> = {
  ational: 'ate',
  tional: 'tion',
  enci: 'ence',
  anci: 'ance',
  izer: 'ize',
  bli: 'ble',
  alli: 'al',
  entli: 'ent',
  eli: 'e',
  ousli: 'ous',
  ization: 'ize',
  ation: 'ate',
  ator: 'ate',
  alism: 'al',
  iveness: 'ive',
  fulness: 'ful',
  ousness: 'ous',
  aliti: 'al',
  iviti: 'ive',
  biliti: 'ble',
  logi: 'log',
}
const LATE_SUFFIXES: Record<string, string> = { icate: 'ic', ative: '', alize: 'al', iciti: 'ic', ical: 'ic', ful: '', ness: '' }

const CONSONANTS = '[^aeiou][^aeiouy]*'
const VOWELS = '[aeiouy][aeiou]*'
const MEASURED = new RegExp(`^(${CONSONANTS})?${VOWELS}${CONSONANTS}`)
const MEASURED_ONCE = new RegExp(`^(${CONSONANTS})?${VOWELS}${CONSONANTS}(${VOWELS})?$`)
const MEASURED_TWICE = new RegExp(`^(${CONSONANTS})?${VOWELS}${CONSONANTS}${VOWELS}${CONSONANTS}`)
const HAS_VOWEL = new RegExp(`^(${CONSONANTS})?[aeiouy]`)
const SHORT_END = new RegExp(`^${CONSONANTS}[aeiouy][^aeiouwxy]$`)
const ending = (suffixes: string[]) => new RegExp(`^(.+?)(${suffixes.toSorted((a, b) => b.length - a.length).join('|')})$`)
const DOUBLE = ending(Object.keys(DOUBLE_SUFFIXES))
const LATE = ending(Object.keys(LATE_SUFFIXES))
const LAST = /^(.+?)(al|ance|ence|er|ic|able|ible|ant|ement|ment|ent|ou|ism|ate|iti|ous|ive|ize)$/

/** The word without its English ending, by Porter's algorithm, as the full-text index has it; other words stay as they are. */
export function stem(text: string): string {
  if (text.length < 3 || !/^[a-z]+$/.test(text)) return text
  const firstY = text.startsWith('y')
  let word = firstY ? `Y${text.slice(1)}` : text

  if (/.(ss|i)es$/.test(word)) word = word.slice(0, -2)
  else if (/.[^s]s$/.test(word)) word = word.slice(0, -1)

  const past = /^(.+?)(ed|ing)$/.exec(word)
  if (word.endsWith('eed')) {
    if (MEASURED.test(word.slice(0, -3))) word = word.slice(0, -1)
  } else if (past?.[1] && HAS_VOWEL.test(past[1])) {
    word = past[1]
    if (/(at|bl|iz)$/.test(word) || SHORT_END.test(word)) word += 'e'
    else if (/([^aeiouylsz])\1$/.test(word)) word = word.slice(0, -1)
  }
  if (/.y$/.test(word) && HAS_VOWEL.test(word.slice(0, -1))) word = `${word.slice(0, -1)}i`

  for (const [pattern, suffixes] of [
    [DOUBLE, DOUBLE_SUFFIXES],
    [LATE, LATE_SUFFIXES],
  ] as const) {
    const [, root = '', suffix = ''] = pattern.exec(word) ?? []
    if (root && MEASURED.test(root)) word = root + suffixes[suffix]
  }

  const last = LAST.exec(word)?.[1]
  if (last !== undefined) {
    if (MEASURED_TWICE.test(last)) word = last
  } else if (/.[st]ion$/.test(word) && MEASURED_TWICE.test(word.slice(0, -3))) word = word.slice(0, -3)

  if (/.e$/.test(word)) {
    const root = word.slice(0, -1)
    if (MEASURED_TWICE.test(root) || (MEASURED_ONCE.test(root) && !SHORT_END.test(root))) word = root
  }
  if (word.endsWith('ll') && MEASURED_TWICE.test(word)) word = word.slice(0, -1)
  return firstY ? `y${word.slice(1)}` : word
}
