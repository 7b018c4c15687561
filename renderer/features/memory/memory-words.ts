import type { Person } from '../../../server/modules/household/household.contract.ts'
import type { Chunk } from '../../../server/modules/memory/memory.contract.ts'
import { relative } from '../../messages/format.ts'
import { t } from '../../messages/messages.ts'

const origins: Record<string, () => string> = { note: () => t('memory.asNote'), chat_extract: () => t('memory.asSaid') }

/** Whose memory it is, when it was so, and where it came from. */
export function aboutChunk(
  { personId, source, observedAt, category, pinned, promoted, supersededById }: Chunk,
  people: readonly Person[],
): string {
  const person = people.find(({ id }) => id === personId)
  const whose = personId === null ? t('memory.household') : person ? t('memory.of', person.displayName) : ''
  const origin = origins[source]?.() ?? t('memory.asOther', source)
  return [
    supersededById ? t('memory.superseded') : '',
    whose,
    origin,
    relative(observedAt),
    category === 'general' ? '' : category,
    pinned ? t('memory.pinned') : '',
    promoted ? t('memory.promoted') : '',
  ]
    .filter(Boolean)
    .join(' · ')
}

/** The text of a memory where it says more than its title. */
export const bodyOf = ({ title, content }: Chunk): string => (content.trim() === title.trim() ? '' : content)
