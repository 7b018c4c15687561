import type { Conversation, Message } from './chat.contract.ts'

/** A conversation as Markdown, each message under who said it and when. */
export function asMarkdown({ title, createdAt, messages }: Conversation & { messages: Message[] }): string {
  const parts = messages.map(({ role, content, createdAt: at, status }) => {
    const who = role === 'user' ? 'You' : 'Hearth'
    const note = status === 'complete' ? '' : ` _(${status})_`
    return `**${who}**, ${at}${note}\n\n${content}`
  })
  return `# ${title}\n\n${createdAt}\n\n${parts.join('\n\n---\n\n')}\n`
}

/** Content-Disposition for a download; names beyond ASCII go into the extended form (RFC 6266, RFC 8187). */
export function attachment(name: string): string {
  const plain = name.replaceAll(/[^\w .-]/g, '_')
  const extended = encodeURIComponent(name).replaceAll(/['()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`)
  return `attachment; filename="${plain}"; filename*=UTF-8''${extended}`
}
