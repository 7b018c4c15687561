import { t } from '../../messages/messages.ts'

/** A first guess at what this browser runs on, from its user agent and the shorter side of its screen in CSS pixels. */
export function guessDevice(userAgent: string, shortSidePx: number): { type: 'phone' | 'tablet'; name: string } {
  const named = /iPhone|iPad/.exec(userAgent)?.[0]
  const handheld = /Android|Mobile|iPhone/.test(userAgent)
  const type = handheld && named !== 'iPad' && shortSidePx < 600 ? 'phone' : 'tablet'
  const model = /Android [^;)]*; ([^;)]{2,40}?)(?: Build|[;)])/.exec(userAgent)?.[1]
  const computer = /Windows|Macintosh|CrOS|X11; Linux/.exec(userAgent)?.[0]
  const system = { Windows: 'Windows PC', Macintosh: 'Mac', CrOS: 'Chromebook', 'X11; Linux': 'Linux PC' }[computer ?? '']
  return { type, name: named ?? model ?? system ?? t(type === 'phone' ? 'pair.defaultPhone' : 'pair.defaultTablet') }
}
