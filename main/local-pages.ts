import { readFile } from 'node:fs/promises'
import { extname, join } from 'node:path'
import { LOCAL_SCHEME } from './guards.ts'
import { texts } from './texts.ts'

const ADDRESS = `${LOCAL_SCHEME}://pages`

/** Shown while no server answers: says how it is doing and offers the one thing to do about it. */
export const STATUS_PAGE = `${ADDRESS}/status.html`
export const RESET_PASSWORD_PAGE = `${ADDRESS}/reset-password.html`

/** Every file these pages consist of; nothing else is answered. */
const FILES = new Set(['status.html', 'status.js', 'reset-password.html', 'reset-password.js', 'desktop.css'])

const TYPES: Readonly<Record<string, string>> = { '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css' }

const POLICY = "default-src 'none'; script-src 'self'; style-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

const words: Readonly<Record<string, string>> = { name: texts.name, ...texts.resetPage }

const escaped = (text: string): string => text.replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`)

/** Puts the shell's texts in place of `{{key}}`. */
function withWords(html: string): string {
  return html.replace(/\{\{(\w+)\}\}/g, (_place, key: string) => {
    const word = words[key]
    if (word === undefined) throw new Error(`No text for ${key}`)
    return escaped(word)
  })
}

/** Answers requests of the shell's own scheme from one folder. */
export function createLocalPages(folder: string): (request: { url: string }) => Promise<Response> {
  return async ({ url }) => {
    const name = URL.parse(url)?.pathname.slice(1) ?? ''
    if (!FILES.has(name)) return new Response(null, { status: 404 })
    const headers = {
      'content-type': `${TYPES[extname(name)]}; charset=utf-8`,
      'content-security-policy': POLICY,
      'x-content-type-options': 'nosniff',
    }
    const content = await readFile(join(folder, name), 'utf8')
    return new Response(name.endsWith('.html') ? withWords(content) : content, { headers })
  }
}
