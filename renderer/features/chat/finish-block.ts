import { mount, unmount } from 'svelte'
import type { Attachment } from 'svelte/attachments'
import { t } from '../../messages/messages.ts'
import CopyButton from '../../ui/CopyButton.svelte'
import type { Block } from './markdown.ts'

function addCopyButton(figure: Element): () => void {
  const target = document.createElement('div')
  target.className = 'copy no-print'
  figure.append(target)
  const text = figure.querySelector('code')?.textContent?.replace(/\n$/, '') ?? ''
  const button = mount(CopyButton, { target, props: { text, label: t('chat.copyCode'), compact: true } })
  return () => {
    void unmount(button)
    target.remove()
  }
}

/** What scrolls must be reachable by keyboard, and say what it is. */
function makeReachable(scroller: Element, label: string): void {
  scroller.setAttribute('tabindex', '0')
  scroller.setAttribute('role', 'region')
  scroller.setAttribute('aria-label', label)
}

/** For `{@attach}` on what holds the HTML of `block`, once it does not change any more: what HTML alone cannot do. */
export function finishBlock(block: Block): Attachment | undefined {
  if (!/<(?:pre|table)\b/.test(block.html)) return undefined
  return (element) => {
    for (const table of element.querySelectorAll('div:has(> table)')) makeReachable(table, t('chat.table'))
    for (const code of element.querySelectorAll('pre')) makeReachable(code, t('chat.code'))
    const ends = [...element.querySelectorAll('figure')].map(addCopyButton)
    return () => {
      for (const end of ends) end()
    }
  }
}
