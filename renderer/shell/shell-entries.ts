import BookOpen from '@lucide/svelte/icons/book-open'
import Keyboard from '@lucide/svelte/icons/keyboard'
import { t } from '../messages/messages.ts'
import type { Router } from '../router.svelte.ts'
import type { Route } from '../routes.ts'
import type { Session } from '../session.svelte.ts'
import { areasFor } from './navigation.ts'
import { fitsQuery, type PaletteItem, type PaletteSource } from './palette.svelte.ts'

export interface ShellEntriesDeps {
  session: Session
  router: Router<Route>
  showShortcuts: () => void
}

/** What the palette finds of the shell's own: the areas, the documents for those who may use them, the shortcut sheet. */
export function shellEntries({ session, router, showShortcuts }: ShellEntriesDeps): PaletteSource {
  const page = (name: string, label: string, icon: PaletteItem['icon'], href: string) => ({
    id: `page:${name}`,
    label,
    kind: t('palette.page'),
    ...(icon ? { icon } : {}),
    run: () => router.go(href),
  })
  return (query) => {
    const all: PaletteItem[] = [
      ...areasFor(session).map((area) => page(area.route, t(area.label), area.icon, area.href)),
      ...(session.may('admin') ? [page('docs', t('nav.docs'), BookOpen, '/docs')] : []),
      { id: 'shortcuts', label: t('shortcuts.title'), kind: t('palette.action'), icon: Keyboard, run: showShortcuts },
    ]
    return query ? all.filter(({ label }) => fitsQuery(label, query)) : all
  }
}
