export const platforms = ['android', 'ios', 'windows', 'macos', 'linux', 'firefox'] as const
export type Platform = (typeof platforms)[number]

/** What kind of device a browser says it runs on. An iPad calls itself a Mac, but has fingers on it. */
export function guessPlatform(userAgent: string, touchPoints: number): Platform {
  if (/Android/.test(userAgent)) return 'android'
  if (/iPhone|iPad/.test(userAgent) || (/Macintosh/.test(userAgent) && touchPoints > 1)) return 'ios'
  if (/Firefox\//.test(userAgent)) return 'firefox'
  if (/Windows/.test(userAgent)) return 'windows'
  return /Macintosh/.test(userAgent) ? 'macos' : 'linux'
}
