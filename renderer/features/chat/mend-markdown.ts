/** Marks alone on the last line, which may yet become a heading, a list, a rule, a quote or a fence. */
const UNDECIDED_LINE = /(^|\n)[ \t]*([#>:=*_~+`-]+[#>:=*_~+` \t-]*|\d{1,9}[.)]?)[ \t]*$/
const UNFINISHED_LINK = /!?\[([^\]\n]*)(\]\([^)\n]*|\])?$/
const UNFINISHED_ENTITY_OR_TAG = /(&[a-z0-9#]{0,10}|<\/?[a-z][^>\n]{0,40})$/i
/** One star or underscore that opens emphasis on the last line and does not close it. */
const OPEN_EMPHASIS = /(?:^|[\s(])([*_])(?![\s*_])[^*_\n]*$/

function fenceIsOpen(text: string): boolean {
  let fence = ''
  for (const line of text.split('\n')) {
    const mark = /^ {0,12}(`{3,}|~{3,})(.*)$/.exec(line)
    if (!mark?.[1]) continue
    if (fence === '') fence = mark[1]
    else if (mark[1].startsWith(fence) && mark[2]?.trim() === '') fence = ''
  }
  return fence !== ''
}

/** A table is shown from its second line on, row by whole row; before that it would stand there as a paragraph. */
function holdTable(text: string): string {
  const start = text.lastIndexOf('\n\n') === -1 ? 0 : text.lastIndexOf('\n\n') + 2
  const first = text.slice(start).search(/^[ \t]*\|/m)
  if (first === -1) return text
  const lines = text.slice(start + first).split('\n')
  const whole = lines.slice(0, -1)
  return text.slice(0, start + first) + (whole.length < 2 ? '' : `${whole.join('\n')}\n`)
}

/** Appends what closes `mark` if the last paragraph opens it once too often; a mark with nothing behind it is dropped. */
function close(text: string, mark: string): string {
  const start = text.lastIndexOf('\n\n') + 1
  const parts = text
    .slice(start)
    .replaceAll(/`[^`\n]*`/g, '')
    .split(mark)
  if (parts.length % 2 === 1) return text
  return parts.at(-1)?.trim() === '' ? text.slice(0, text.lastIndexOf(mark)) : text.trimEnd() + mark
}

function closeEmphasis(text: string): string {
  const paired = close(close(text.replace(/[*_~]{1,2}$/, ''), '**'), '~~')
  const open = OPEN_EMPHASIS.exec(paired)?.[1]
  return open ? paired.trimEnd() + open : paired
}

/**
 * Markdown that is still being written, made whole enough to be shown: what is open is closed, and what cannot be told
 * yet is held back for the moment, so that the page does not jump when the next piece decides it.
 */
export function mendMarkdown(text: string): string {
  if (fenceIsOpen(text)) return text.replace(/\n[ \t]*(`{1,2}|~{1,2})$/, '\n')
  const shown = holdTable(text).replace(UNDECIDED_LINE, '$1')
  const ticked = close(shown, '`')
  if (ticked !== shown) return ticked
  return closeEmphasis(shown.replace(UNFINISHED_ENTITY_OR_TAG, '').replace(UNFINISHED_LINK, '$1'))
}
