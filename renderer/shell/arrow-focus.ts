type Direction = 'left' | 'right' | 'up' | 'down'
const directions: Record<string, Direction> = { ArrowLeft: 'left', ArrowRight: 'right', ArrowUp: 'up', ArrowDown: 'down' }
const FOCUSABLE =
  'a[href], button:not(:disabled), input:not(:disabled), select:not(:disabled), textarea:not(:disabled), summary, [tabindex="0"]'

/** Whether the caret or the choice still has somewhere to go in that direction, so that the arrow belongs to the field. */
function keepsArrow(target: EventTarget | null, direction: Direction): boolean {
  const back = direction === 'left' || direction === 'up'
  if (target instanceof HTMLSelectElement) {
    if (direction === 'left' || direction === 'right') return false
    return back ? target.selectedIndex > 0 : target.selectedIndex < target.length - 1
  }
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

/** Moves the focus to the nearest thing in the direction of an arrow key, as a remote control expects. */
export function moveFocusByArrow(event: KeyboardEvent): void {
  const direction = directions[event.key]
  if (!direction || event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return
  if (keepsArrow(event.target, direction)) return
  const scope = document.querySelector('dialog[open]') ?? document.body
  const all = [...scope.querySelectorAll<HTMLElement>(FOCUSABLE)].filter(
    (element) => element.getClientRects().length > 0 && element.dataset.arrows !== 'off',
  )
  const active = document.activeElement instanceof HTMLElement && scope.contains(document.activeElement) ? document.activeElement : null
  const started = active !== null && active !== document.body
  const targets = started ? nearest(all, active, direction) : all.filter((element) => element.closest('main, dialog'))
  const [first] = targets
  if (!first) return
  event.preventDefault()
  first.focus()
  first.scrollIntoView({ block: 'nearest' })
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
