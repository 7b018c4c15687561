/** Gathers pieces of text and hands them on at most once a frame; `flush` hands on what is left at once. */
export function createFrameBuffer(apply: (text: string) => void) {
  let gathered = ''
  let frame = 0

  const flush = () => {
    cancelAnimationFrame(frame)
    frame = 0
    const text = gathered
    gathered = ''
    if (text !== '') apply(text)
  }

  return {
    add(piece: string): void {
      gathered += piece
      if (frame === 0) frame = requestAnimationFrame(flush)
    },
    flush,
  }
}
