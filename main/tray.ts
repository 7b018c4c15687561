import type { ServerState } from './supervisor.ts'
import { texts } from './texts.ts'

/** What a menu entry can do here. */
export interface MenuActs {
  open(): void
  pause(): void
  resume(): void
  resetPassword(): void
  quit(): void
}

export type MenuEntry =
  | { label: string; enabled?: boolean; click?: () => void; submenu?: MenuEntry[] }
  | { type: 'separator' }
  | { role: 'appMenu' | 'editMenu' | 'windowMenu' | 'resetZoom' | 'zoomIn' | 'zoomOut' | 'togglefullscreen' }

const runs = (state: ServerState): boolean => state.kind !== 'stopped' && state.kind !== 'gave-up'

function ownEntries(state: ServerState, acts: MenuActs): MenuEntry[] {
  return [
    runs(state) ? { label: texts.pause, click: acts.pause } : { label: texts.resume, click: acts.resume },
    { label: texts.resetPassword, enabled: state.kind === 'ready' && state.setupPin === null, click: acts.resetPassword },
    { type: 'separator' },
    { label: texts.quit, click: acts.quit },
  ]
}

/** The tray icon's menu: how the house is doing, and what can be done about it. */
export const trayMenu = (state: ServerState, acts: MenuActs): MenuEntry[] => [
  { label: texts.status[state.kind], enabled: false },
  { label: texts.open, click: acts.open },
  ...ownEntries(state, acts),
]

/** The window's menu, for desktops that show no tray; its roles carry the usual shortcuts. */
export const windowMenu = (state: ServerState, acts: MenuActs, platform: NodeJS.Platform): MenuEntry[] => [
  ...(platform === 'darwin' ? [{ role: 'appMenu' } as const] : []),
  { label: texts.name, submenu: ownEntries(state, acts) },
  { role: 'editMenu' },
  { label: texts.view, submenu: [{ role: 'resetZoom' }, { role: 'zoomIn' }, { role: 'zoomOut' }, { role: 'togglefullscreen' }] },
  ...(platform === 'darwin' ? [{ role: 'windowMenu' } as const] : []),
]
