type Direction = 'left' | 'right' | 'up' | 'down'
const directions: Record<string, Direction> = { ArrowLeft: 'left', ArrowRight: 'right', ArrowUp: 'up', ArrowDown: 'down' }
const FOCUSABLE =
  'a[href], button:not(:disabled), input:not(:disabled), select:not(:disabled), textarea:not(:disabled), summary, [tabindex="0"]'

/** Whether the caret or the choice still has somewhere to go in that direction, so that the arrow belongs to the field. */
function keepsArrow(target: EventTarget | null, direction: Direction): boolean {
  const back = direction === 'left' || direction === 'up'
  if (!(target instanceof HTMLInputElement || target instanceof HTMLTextAreaElement)) return false
  if (target instanceof HTMLInputElement && /^(checkbox|button|submit)$/.test(target.type)) return false
  if (target instanceof HTMLInputElement && target.type === 'radio') {
    const group = [...document.querySelectorAll<HTMLInputElement>(`input[type=radio][name="${CSS.escape(target.name)}"]`)]
    return back ? group[0] !== target : group.at(-1) !== target
  }
  if (target instanceof HTMLInputElement && (direction === 'up' || direction === 'down')) return false
  const { selectionStart: start, selectionEnd: end, value } = target
  if (start === null || start !== end) return start !== null
  return back ? start > 0 : start < value.length
}

/**
 * How far `to` lies from `from` in a direction; null when it lies elsewhere. Along a row another row comes last; from
 * row to row the next one is meant, wherever its things stand, so that off to the side costs little.
 */
export function arrowDistance(from: DOMRect, to: DOMRect, direction: Direction): number | null {
  const across = direction === 'left' || direction === 'right'
  const ahead = {
    left: from.left - to.right,
    right: to.left - from.right,
    up: from.top - to.bottom,
    down: to.top - from.bottom,
  }[direction]
  const tolerance = (across ? Math.min(from.width, to.width) : Math.min(from.height, to.height)) / 2
  if (ahead < -tolerance) return null
  const aside = across ? gap(from.top, from.bottom, to.top, to.bottom) : gap(from.left, from.right, to.left, to.right)
  const detour = across ? aside * 2 + (aside > 0 ? OTHER_ROW : 0) : aside / 2
  return Math.max(0, ahead) + detour
}

/** More than any screen is wide. */
const OTHER_ROW = 20_000

const gap = (a1: number, a2: number, b1: number, b2: number) => Math.max(0, b1 - a2, a1 - b2)

/** `data-arrows`: `off` is passed over, `into` is a thing whose own buttons every arrow leads to first. */
const isAt = (element: HTMLElement): boolean => element.getClientRects().length > 0 && element.dataset.arrows !== 'off'
const focusableIn = (scope: ParentNode): HTMLElement[] => [...scope.querySelectorAll<HTMLElement>(FOCUSABLE)].filter(isAt)
const scopeNow = (): HTMLElement => document.querySelector<HTMLElement>('dialog[open]') ?? document.body
const inPage = (elements: HTMLElement[]): HTMLElement[] => {
  const inside = elements.filter((element) => element.closest('main, dialog'))
  return inside.length > 0 ? inside : elements
}

/** Rows of a page that are scrolled away come before the frame, which is always in sight. */
function ahead(all: HTMLElement[], active: HTMLElement, direction: Direction): HTMLElement[] {
  const own = active.dataset.arrows === 'into' ? all.filter((element) => active.contains(element)) : []
  if (own.length > 0) return own
  const page = active.closest('main')
  const inside = page && (direction === 'up' || direction === 'down') ? all.filter((element) => page.contains(element)) : []
  const nearby = nearest(inside, active, direction)
  return nearby.length > 0 ? nearby : nearest(all, active, direction)
}

function nearest(all: HTMLElement[], active: HTMLElement, direction: Direction): HTMLElement[] {
  const from = active.getBoundingClientRect()
  return all
    .filter((element) => element !== active && !element.contains(active))
    .flatMap((element) => {
      const distance = arrowDistance(from, element.getBoundingClientRect(), direction)
      return distance === null ? [] : [{ element, distance }]
    })
    .sort((a, b) => a.distance - b.distance)
    .map(({ element }) => element)
}

const apart = (a: DOMRect, b: DOMRect) => gap(a.top, a.bottom, b.top, b.bottom) + gap(a.left, a.right, b.left, b.right)

/** Something that has just been taken away may be put back at once, changed. */
const SETTLED_MS = 150

/** The focus as a remote control moves it: by arrows to the nearest thing, and on to a neighbour where the thing that had it is gone. */
export class ArrowFocus {
  #lastBox: DOMRect | null = null
  /** The choice that the arrows go through: from OK to OK, so that walking over it changes nothing. */
  #choosing: EventTarget | null = null

  /** Handles an arrow key, unless a field or a menu needs it. */
  move(event: KeyboardEvent): void {
    if (event.target !== this.#choosing) this.#choosing = null
    if (event.target instanceof HTMLSelectElement && (event.key === 'Enter' || event.key === ' '))
      this.#choosing = this.#choosing ? null : event.target
    const direction = directions[event.key]
    if (!direction || this.#choosing || event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return
    if (keepsArrow(event.target, direction)) return
    const scope = scopeNow()
    const all = focusableIn(scope)
    const active = document.activeElement instanceof HTMLElement && scope.contains(document.activeElement) ? document.activeElement : null
    const isSomewhere = active !== null && active !== document.body
    if (this.#focusFirst(isSomewhere ? ahead(all, active, direction) : this.#closest(all))) event.preventDefault()
  }

  /** Keeps the focus from getting lost; returns what ends that. */
  keep(): () => void {
    let check: ReturnType<typeof setTimeout> | undefined
    const remember = () => {
      const active = document.activeElement
      if (active instanceof HTMLElement && active !== document.body) this.#lastBox = active.getBoundingClientRect()
    }
    const changed = () => {
      if (document.activeElement !== document.body) return
      clearTimeout(check)
      check = setTimeout(() => {
        if (this.#lastBox && document.activeElement === document.body) this.#focusFirst(this.#closest(focusableIn(scopeNow())))
      }, SETTLED_MS)
    }
    const observer = new MutationObserver(changed)
    observer.observe(document.body, { childList: true, subtree: true, attributes: true, attributeFilter: ['disabled', 'hidden'] })
    document.addEventListener('focusin', remember)
    document.addEventListener('keydown', remember, { capture: true })
    return () => {
      clearTimeout(check)
      observer.disconnect()
      document.removeEventListener('focusin', remember)
      document.removeEventListener('keydown', remember, { capture: true })
    }
  }

  #closest(all: HTMLElement[]): HTMLElement[] {
    const box = this.#lastBox
    const candidates = inPage(all)
    if (!box) return candidates
    return candidates
      .map((element) => ({ element, distance: apart(box, element.getBoundingClientRect()) }))
      .sort((a, b) => a.distance - b.distance)
      .map(({ element }) => element)
  }

  #focusFirst(targets: HTMLElement[]): boolean {
    for (const target of targets) {
      target.focus()
      if (document.activeElement !== target) continue
      target.scrollIntoView({ block: 'nearest' })
      return true
    }
    return false
  }
}
