import type { ToolCall } from '../../../server/modules/chat/chat.contract.ts'
import { actionWords } from '../../messages/action-words.ts'
import { t } from '../../messages/messages.ts'

const MAX_SPOKEN = 600

/** Markdown without its marks, as it would be read aloud. */
export function plainOf(markdown: string): string {
  return markdown
    .replaceAll(/!?\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replaceAll(/^[ \t]*([#>]+|[-+*]|`{3,}.*|\|?[ :|-]{3,})[ \t]*/gm, '')
    .replaceAll(/[*`|]+|~~/g, ' ')
    .replaceAll(/\s+/g, ' ')
    .trim()
}

/** What a screen reader says when a reply has ended in `status`: the beginning of it, or how it ended, and what it asks for. */
export function spokenEnd(status: string, content: string, calls: readonly ToolCall[] = []): string {
  const asks = calls.filter((call) => call.status === 'asking').map(({ name }) => t('chat.saidAsks', actionWords(name)))
  return [spokenReply(status, content), ...asks].join(' ')
}

function spokenReply(status: string, content: string): string {
  if (status === 'aborted') return t('chat.saidStopped')
  if (status === 'failed') return t('chat.saidFailed')
  const plain = plainOf(content)
  if (plain.length <= MAX_SPOKEN) return t('chat.replied', plain)
  return t('chat.repliedLong', plain.slice(0, plain.lastIndexOf(' ', MAX_SPOKEN)))
}
