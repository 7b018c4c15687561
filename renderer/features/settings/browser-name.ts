import { t } from '../../messages/messages.ts'

const browsers: [string, RegExp][] = [
  ['Hearth', /Electron\//],
  ['Edge', /Edg(e|A|iOS)?\//],
  ['Opera', /OPR\//],
  ['Samsung Internet', /SamsungBrowser\//],
  ['Firefox', /(Firefox|FxiOS)\//],
  ['Chrome', /(Chrome|CriOS)\//],
  ['Safari', /Safari\//],
]
const systems: [string, RegExp][] = [
  ['iPhone', /iPhone/],
  ['iPad', /iPad/],
  ['Android', /Android/],
  ['Windows', /Windows/],
  ['Mac', /Macintosh/],
  ['ChromeOS', /CrOS/],
  ['Linux', /Linux/],
]

/** "Firefox on Linux" from a user agent. */
export function browserName(userAgent: string): string {
  const find = (list: [string, RegExp][]) => list.find(([, pattern]) => pattern.test(userAgent))?.[0]
  const [browser, system] = [find(browsers), find(systems)]
  if (browser && system) return t('settings.sessions.on', browser, system)
  return browser ?? system ?? t('settings.sessions.unknown')
}
