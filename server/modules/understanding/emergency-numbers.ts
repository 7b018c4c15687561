interface Numbers {
  /** Where a zone of the household says that it is there. */
  zones: readonly string[]
  call?: string
  /** Who listens to somebody who thinks of suicide. */
  talk?: string
}

/** By region; in Europe 112 is answered everywhere. Only numbers that hold for the whole region. */
const NUMBERS: Readonly<Record<string, Numbers>> = {
  US: { zones: ['America/', 'US/', 'Pacific/Honolulu'], call: '911', talk: '988' },
  CA: { zones: ['America/', 'Canada/'], call: '911', talk: '988' },
  MX: { zones: ['America/', 'Mexico/'], call: '911' },
  BR: { zones: ['America/', 'Brazil/'], talk: '188' },
  AU: { zones: ['Australia/'], call: '000', talk: '13 11 14' },
  NZ: { zones: ['Pacific/Auckland', 'NZ'], call: '111', talk: '1737' },
  IN: { zones: ['Asia/Kolkata', 'Asia/Calcutta'], call: '112', talk: '14416' },
  GB: { zones: ['Europe/London', 'Europe/Belfast', 'GB'], call: '999', talk: '116 123' },
  IE: { zones: ['Europe/Dublin', 'Eire'], call: '112', talk: '116 123' },
  DE: { zones: ['Europe/Berlin', 'Europe/Busingen'], call: '112', talk: '116 123' },
  AT: { zones: ['Europe/Vienna'], call: '112', talk: '142' },
  CH: { zones: ['Europe/Zurich'], call: '112', talk: '143' },
  NL: { zones: ['Europe/Amsterdam'], call: '112', talk: '113' },
  FR: { zones: ['Europe/Paris'], call: '112', talk: '3114' },
  ES: { zones: ['Europe/Madrid', 'Africa/Ceuta', 'Atlantic/Canary'], call: '112', talk: '024' },
  NO: { zones: ['Europe/Oslo'], call: '112', talk: '116 123' },
  PL: { zones: ['Europe/Warsaw', 'Poland'], call: '112', talk: '116 123' },
  CZ: { zones: ['Europe/Prague'], call: '112', talk: '116 123' },
  HU: { zones: ['Europe/Budapest'], call: '112', talk: '116 123' },
}
/** Says nothing of where a household is; nor does the region that machines come with. */
const NOWHERE = /^(?:UTC|GMT|Etc\/)/i
const USUAL = 'US'

function regionOf(locale: string): string {
  try {
    return new Intl.Locale(locale).region ?? ''
  } catch {
    return ''
  }
}

/** The numbers to call where a household is; what its region and its zone do not say for sure is left out. */
export function emergencyNumbers({ locale, timezone }: { locale: string; timezone: string }): Pick<Numbers, 'call' | 'talk'> {
  const region = regionOf(locale)
  const here = NUMBERS[region]
  if (here && ((region !== USUAL && NOWHERE.test(timezone)) || here.zones.some((zone) => timezone.startsWith(zone)))) return here
  return timezone.startsWith('Europe/') ? { call: '112' } : {}
}
