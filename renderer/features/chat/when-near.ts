import type { Attachment } from 'svelte/attachments'

/** For `{@attach}`: calls `act` whenever the element comes near the visible part of the page. */
export function whenNear(act: () => void): Attachment {
  return (element) => {
    const observer = new IntersectionObserver((seen) => seen.some(({ isIntersecting }) => isIntersecting) && act(), { rootMargin: '400px' })
    observer.observe(element)
    return () => observer.disconnect()
  }
}
