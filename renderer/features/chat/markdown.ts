import createPurifier, { type Config } from 'dompurify'
import { Marked, Renderer, type Tokens } from 'marked'
import { mendMarkdown } from './mend-markdown.ts'

/** A paragraph, list, table or the like: its source and the safe HTML made of it. */
export interface Block {
  raw: string
  html: string
}

const ALLOWED: Config = {
  ALLOWED_TAGS: [
    ...['a', 'blockquote', 'br', 'code', 'del', 'div', 'em', 'figcaption', 'figure', 'h3', 'h4', 'h5', 'h6'],
    ...['hr', 'li', 'ol', 'p', 'pre', 'strong', 'table', 'tbody', 'td', 'th', 'thead', 'tr', 'ul'],
  ],
  ALLOWED_ATTR: ['href', 'start', 'align', 'type'],
  // The rest must look like an address.
  ADD_URI_SAFE_ATTR: ['start', 'align', 'type'],
  ALLOW_DATA_ATTR: false,
  ALLOW_ARIA_ATTR: false,
  ALLOWED_URI_REGEXP: /^(?:https?:\/\/|mailto:|tel:|\/(?![/\\]))/i,
}

const ESCAPES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }
const escaped = (text: string) => text.replaceAll(/[&<>"']/g, (character) => ESCAPES[character] ?? character)

const marked = new Marked({
  gfm: true,
  breaks: true,
  renderer: {
    html: ({ text }: Tokens.HTML | Tokens.Tag) => escaped(text),
    // Pictures would be fetched from elsewhere without anyone asking for it; a link leaves the choice.
    image: ({ href, text }: Tokens.Image) => `<a href="${escaped(href)}">${escaped(text || href)}</a>`,
    checkbox: ({ checked }: Tokens.Checkbox) => (checked ? '☑ ' : '☐ '),
    // A box instead of a bullet.
    listitem(item: Tokens.ListItem) {
      return item.task ? Renderer.prototype.listitem.call(this, item).replace('<li>', '<li type="none">') : false
    },
    code({ text, lang }: Tokens.Code) {
      const language = /^[\w+#.-]{1,24}/.exec(lang ?? '')?.[0]
      const caption = language ? `<figcaption>${escaped(language)}</figcaption>` : ''
      return `<figure>${caption}<pre><code>${escaped(text)}\n</code></pre></figure>`
    },
    table(token: Tokens.Table) {
      return `<div>${Renderer.prototype.table.call(this, token)}</div>`
    },
    // The page itself has the first level and each message the second.
    heading({ tokens, depth }: Tokens.Heading) {
      const level = Math.min(6, Math.max(3, depth + 1))
      return `<h${level}>${this.parser.parseInline(tokens)}</h${level}>`
    },
  },
})

/** Where a link leads, or null if it cannot be followed safely. */
function destination(href: string): URL | null {
  try {
    const url = new URL(href, document.baseURI)
    const ours = url.origin === location.origin
    // Pages of this house may be linked to; its API may not, since following a link there could do something.
    return ours && /^\/(?:api|ws)(?:\/|$)/i.test(decodeURIComponent(url.pathname)) ? null : url
  } catch {
    return null
  }
}

function settleLink(link: Element): void {
  const url = destination(link.getAttribute('href') ?? '')
  if (!url) link.removeAttribute('href')
  if (!url || url.origin === location.origin) return
  link.setAttribute('target', '_blank')
  link.setAttribute('rel', 'noopener noreferrer')
}

const purifier = createPurifier(window)
purifier.addHook('afterSanitizeAttributes', (node) => {
  if (node.nodeName === 'A' && node.hasAttribute('href')) settleLink(node)
})

/**
 * Markdown as safe HTML, block by block. With `before`, what it was rendered to last time, only blocks that changed are
 * made anew; `unfinished` text is mended first.
 */
export function renderMarkdown(
  text: string,
  { unfinished = false, before = [] }: { unfinished?: boolean; before?: Block[] } = {},
): Block[] {
  const tokens = marked.lexer(unfinished ? mendMarkdown(text) : text)
  const blocks: Block[] = []
  for (const token of tokens) {
    if (token.type === 'space' || token.type === 'def') continue
    const same = before[blocks.length]
    if (same?.raw === token.raw) blocks.push(same)
    else blocks.push({ raw: token.raw, html: purifier.sanitize(marked.parser([token]), ALLOWED) })
  }
  return blocks
}
