/** Zones by the folded name of their city, as the zone database spells it: `new york` for America/New_York. */
export function zoneCities(): Record<string, string> {
  const found: Record<string, string> = {}
  for (const zone of Intl.supportedValuesOf('timeZone')) {
    const [area, ...rest] = zone.split('/')
    const city = rest.at(-1)
    if (city && area !== 'Etc') found[city.replaceAll('_', ' ')] ??= zone
  }
  return found
}
