import { date, list } from './format.ts'
import { t } from './messages.ts'

const ISO_MOMENT = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)$/

/** A name as programs write it, as a person would: `dueAt` becomes "Due at". */
export function nameWords(name: string): string {
  const apart = name.replaceAll(/([a-z])([A-Z])/g, '$1 $2')
  const words = apart.split(/[\s_-]+/).filter(Boolean)
  const lower = words.map((word) => (/^[A-Z][a-z]*$/.test(word) ? word.toLowerCase() : word))
  const text = lower.map((word) => t('action.word', word)).join(' ') || name
  return text.charAt(0).toLocaleUpperCase() + text.slice(1)
}

const OF_SERVER = /^mcp\.([^.]+)\.(.+)$/

/** The name of an action as a person would write it: `add_todo` becomes "Add to-do"; of a tool from elsewhere its server is named. */
export function actionWords(name: string): string {
  const [, server, tool] = OF_SERVER.exec(name) ?? []
  return server === undefined || tool === undefined
    ? nameWords(name.split('.').at(-1) ?? name)
    : t('action.ofServer', nameWords(tool), server)
}

const UUID = /^[\da-f]{8}-(?:[\da-f]{4}-){3}[\da-f]{12}$/i
const isEmpty = (value: unknown) =>
  value === null || value === undefined || value === '' || (typeof value === 'object' && Object.keys(value).length === 0)

function valueWords(value: unknown): string {
  if (typeof value === 'string') return ISO_MOMENT.test(value) && !Number.isNaN(Date.parse(value)) ? date(value) : value
  if (typeof value === 'boolean') return t(value ? 'action.yes' : 'action.no')
  if (Array.isArray(value) && value.every((one) => typeof one === 'string')) return list(value.map(valueWords))
  return JSON.stringify(value)
}

/**
 * The parameters of a call as lines of a list, without what says nothing, such as bare ids where something else tells what is meant; what is
 * nested is written as JSON.
 */
export function callDetails(params: unknown, { ids = false } = {}): [name: string, value: string][] {
  if (typeof params !== 'object' || params === null) return []
  return Object.entries(params)
    .filter(([, value]) => !isEmpty(value) && (ids || !(typeof value === 'string' && UUID.test(value))))
    .map(([name, value]) => [nameWords(name), valueWords(value)])
}
