import { untrack } from 'svelte'

export interface Shortcut {
  /** As KeyboardEvent.key has it, lower case for letters. */
  key: string
  /** Ctrl, or Cmd on Apple keyboards. */
  mod?: boolean
  shift?: boolean
  label: string
  /** Heading it stands under on the "?" sheet. */
  group: string
  /** Works while a text field has the focus; those with `mod` always do. */
  inFields?: boolean
  /** Absent where the page handles the key itself and only wants it listed. */
  run?: () => void
}

const isApple = () => /Mac|iPhone|iPad/.test(navigator.userAgent)
const named: Record<string, string> = { escape: 'Esc', enter: 'Enter', arrowup: '↑', arrowdown: '↓', arrowleft: '←', arrowright: '→' }

/** The keys of a shortcut as they are printed on the keyboard. */
export function keyCaps({ key, mod, shift }: Pick<Shortcut, 'key' | 'mod' | 'shift'>): string[] {
  const name = named[key.toLowerCase()] ?? (key.length === 1 ? key.toUpperCase() : key)
  return [...(mod ? [isApple() ? '⌘' : 'Ctrl'] : []), ...(shift ? ['Shift'] : []), name]
}

const isField = (target: EventTarget | null) =>
  target instanceof HTMLElement && (target.isContentEditable || target.matches('input, textarea, select'))

/** Every shortcut that works now. Pages add theirs while they are shown. */
export class Shortcuts {
  list = $state.raw<Shortcut[]>([])

  /** Returns what takes them away again; meant to be returned from an effect. */
  add(...shortcuts: Shortcut[]): () => void {
    this.list = untrack(() => [...this.list, ...shortcuts])
    return () => {
      this.list = untrack(() => this.list.filter((shortcut) => !shortcuts.includes(shortcut)))
    }
  }

  /** Runs what fits the event; the latest added wins. Nothing runs behind an open dialog but what is marked `mod`. */
  handle(event: KeyboardEvent): void {
    if (event.defaultPrevented || event.isComposing || event.altKey) return
    const mod = isApple() ? event.metaKey : event.ctrlKey
    const bare = !event.metaKey && !event.ctrlKey
    const blocked = isField(event.target) || document.querySelector('dialog[open]') !== null
    const fits = (shortcut: Shortcut) =>
      shortcut.run !== undefined &&
      shortcut.key.toLowerCase() === event.key.toLowerCase() &&
      (shortcut.mod ? mod : bare) &&
      // The shift of a sign such as "?" belongs to the sign.
      (shortcut.mod || /^[a-z]$/i.test(shortcut.key) ? Boolean(shortcut.shift) === event.shiftKey : true) &&
      (shortcut.mod || shortcut.inFields || !blocked)
    const found = this.list.findLast(fits)
    if (!found) return
    event.preventDefault()
    found.run?.()
  }
}
