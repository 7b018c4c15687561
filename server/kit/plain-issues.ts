import { z } from 'zod'

type Issue = Parameters<NonNullable<ReturnType<typeof z.config>['localeError']>>[0]

const TYPES: Readonly<Record<string, string>> = {
  string: 'a text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  record: 'an object',
  date: 'a date',
  file: 'a file',
  null: 'null',
}
const FORMATS: Readonly<Record<string, string>> = {
  uuid: 'is not an id',
  email: 'is not an e-mail address',
  url: 'is not an address',
  date: 'is not a date like 2026-12-24',
  datetime: 'is not a moment like 2026-12-24T18:00:00Z',
  time: 'is not a time of day like 18:00',
  json_string: 'is not JSON',
  base64: 'is not Base64',
  base64url: 'is not Base64 of the kind for addresses',
}
const MOST_CHOICES = 12

const counted = (count: number | bigint, one: string, many: string) => (Number(count) === 1 ? `one ${one}` : `${count} ${many}`)

function size(origin: string, limit: number | bigint, bound: 'at least' | 'at most', isInclusive: boolean): string {
  if (origin === 'string') return `must have ${bound} ${counted(limit, 'character', 'characters')}`
  if (origin === 'array' || origin === 'set') return `must have ${bound} ${counted(limit, 'entry', 'entries')}`
  if (origin === 'object' || origin === 'map' || origin === 'record') return `must have ${bound} ${counted(limit, 'field', 'fields')}`
  if (origin === 'file') return `must have ${bound} ${counted(limit, 'byte', 'bytes')}`
  if (isInclusive) return `must be ${bound} ${limit}`
  return `must be ${bound === 'at least' ? 'more' : 'less'} than ${limit}`
}

const choices = (values: readonly unknown[]): string =>
  values.length === 1
    ? `must be ${String(values[0])}`
    : `must be one of ${values.slice(0, MOST_CHOICES).map(String).join(', ')}${values.length > MOST_CHOICES ? ' …' : ''}`

/** What is wrong, as the end of a sentence that begins with the field's name. */
function inPlainWords(issue: Issue): string {
  switch (issue.code) {
    case 'invalid_type':
      return issue.input === undefined ? 'is missing' : `must be ${TYPES[issue.expected] ?? 'of another type'}`
    case 'too_small':
      return size(issue.origin, issue.minimum, 'at least', issue.inclusive !== false)
    case 'too_big':
      return size(issue.origin, issue.maximum, 'at most', issue.inclusive !== false)
    case 'invalid_format':
      return FORMATS[issue.format] ?? 'is not written as it must be'
    case 'not_multiple_of':
      return `must be a multiple of ${issue.divisor}`
    case 'unrecognized_keys':
      return `has ${issue.keys.length === 1 ? 'a field' : 'fields'} that nobody knows: ${issue.keys.slice(0, MOST_CHOICES).join(', ')}`
    case 'invalid_value':
      return issue.input === undefined ? 'is missing' : choices(issue.values)
    case 'invalid_union': {
      if (issue.input === undefined) return 'is missing'
      const { options } = issue as { options?: unknown }
      return Array.isArray(options) ? choices(options) : 'is not one of the things it may be'
    }
    default:
      return 'is not valid'
  }
}

/** From then on every schema without words of its own says so in plain ones. */
export const speakPlainly = (): void => void z.config({ localeError: inPlainWords })
