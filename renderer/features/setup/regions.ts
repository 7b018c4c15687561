const LANGUAGES = ['en', 'en-GB', 'de', 'fr', 'es', 'it', 'pt', 'pt-BR', 'nl', 'sv', 'da', 'nb', 'fi', 'pl', 'cs', 'hu', 'ro', 'el', 'tr', 'uk', 'ru', 'ar', 'he', 'hi', 'id', 'ja', 'ko', 'vi', 'zh-Hans', 'zh-Hant'] // biome-ignore format: a list

interface Option {
  value: string
  label: string
}

/** Languages by their own names, the browser's own first. */
export function languageOptions(own: string): Option[] {
  const name = (tag: string) => {
    const found = new Intl.DisplayNames([tag], { type: 'language' }).of(tag) ?? tag
    return found.charAt(0).toLocaleUpperCase(tag) + found.slice(1)
  }
  return [...new Set([own, ...LANGUAGES])].map((tag) => ({ value: tag, label: name(tag) }))
}

/** Every zone the browser knows, and the one it is in even where its list lacks it. */
export function zoneOptions(own: string): Option[] {
  const known = typeof Intl.supportedValuesOf === 'function' ? Intl.supportedValuesOf('timeZone') : []
  return [...new Set([own, ...known])].sort().map((zone) => ({ value: zone, label: zone.replaceAll('_', ' ').replaceAll('/', ' / ') }))
}
