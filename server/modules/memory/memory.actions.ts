import { z } from 'zod'
import { type Action, action } from '../../kit/actions.ts'
import type { Caller } from '../../kit/caller.ts'
import type { ChunksService } from './chunks.service.ts'
import type { Forgotten } from './forgotten.ts'
import type { Chunk } from './memory.contract.ts'
import type { NoteKeeper } from './notes.ts'
import type { RecollectionService } from './recollection.ts'

interface MemoryActionsDeps {
  chunks: ChunksService
  forgotten: Forgotten
  notes: NoteKeeper
  recollection: RecollectionService
  /** The same chunks as the caller may know them. */
  seenBy(caller: Caller, chunks: readonly Chunk[]): Chunk[]
}

const FIRST_PERSON = /(^|[^\p{L}])(i|me|my|mine|myself|ich|mich|mir|mein\p{L}{0,2})([^\p{L}]|$)/iu

/** What somebody says of themselves is their own; everything else is good for the whole household to know. */
const ownerOf = (content: string, forWhom: 'me' | 'household' | undefined, { personId }: Caller): string | null =>
  forWhom === 'household' || (forWhom === undefined && !FIRST_PERSON.test(content)) ? null : personId

const NOBODYS = 'This is a shared device, so I keep it as somebody’s; say it with a name to have it known as theirs.'
const whose = (personId: string | null) => (personId === null ? 'for the household' : 'for you')

const stopBehind = (text: string) => (/[.!?…]$/.test(text) ? ' ' : '. ')

/** What else is gone, after what was forgotten. */
function alsoForgotten(title: string, earlier: number): string {
  if (earlier === 0) return ''
  const stop = stopBehind(title)
  return earlier === 1 ? `${stop}Its earlier version is forgotten too.` : `${stop}Its ${earlier} earlier versions are forgotten too.`
}

/** What can be done with memory by saying so. */
export function memoryActions({ chunks, forgotten, notes, recollection, seenBy }: MemoryActionsDeps): Action[] {
  return [
    action({
      name: 'remember',
      description: 'Keep a note of something that a person wants to have remembered.',
      input: z.strictObject({
        content: z.string().trim().min(1).max(20_000).describe('What is to be remembered, as a full sentence.'),
        category: z.string().trim().max(100).optional(),
        forWhom: z.enum(['me', 'household']).optional().describe('Whose memory it is; by what it says unless stated.'),
      }),
      risk: 'low',
      async run({ content, category, forWhom }, { caller, conversationId, messageId, origin }) {
        const text = content.toWellFormed().replaceAll('\0', '')
        const personId = ownerOf(text, forWhom, caller)
        const { chunk, replaced } = await notes.keep({
          content: text,
          category,
          personId,
          conversationId,
          messageId,
          sparesWritten: origin === 'model' || origin === 'mcp',
        })
        const before = replaced ? `${stopBehind(chunk.title)}Before, it was: ${replaced.content}` : ''
        // on a shared device nobody knows who “my” is
        const nobodys =
          caller.personId === null && forWhom === undefined && FIRST_PERSON.test(text)
            ? `${stopBehind(`${chunk.title}${before}`)}${NOBODYS}`
            : ''
        return {
          output: `I will remember that ${whose(personId)}: ${chunk.title}${before}${nobodys}`,
          data: { chunk: seenBy(caller, [chunk])[0] },
        }
      },
    }),
    action({
      name: 'recall',
      description: 'Look up what is remembered about something.',
      input: z.strictObject({
        query: z.string().trim().min(1).max(4_000).describe('What is asked about.'),
        limit: z.number().int().min(1).max(20).default(5),
        purpose: z
          .enum(['answer', 'about', 'forget', 'newest'])
          .optional()
          .describe('To answer unless stated; else all that is about it, all that would be forgotten, or what was noted down last.'),
      }),
      risk: 'low',
      async run({ query, limit, purpose }, { caller }) {
        const recalled = await recollection.recall(caller, query, limit, purpose)
        const listed = purpose && purpose !== 'answer' ? recalled.chunks.map(({ title }) => title).join('\n') : ''
        return {
          output: recalled.answer ?? (listed || 'I know nothing about that.'),
          data: { ...recalled, chunks: seenBy(caller, recalled.chunks) },
        }
      },
    }),
    action({
      name: 'forget',
      description: 'Forget one remembered text.',
      input: z.strictObject({ chunkId: z.uuid() }),
      risk: 'low',
      modelAsks: true,
      about: ({ chunkId }, { caller }) => chunks.get(caller, chunkId).title,
      async run({ chunkId }, { caller }) {
        const { title, earlier, canUndo } = await forgotten.forget(caller, chunkId)
        return { output: `I have forgotten: ${title}${alsoForgotten(title, earlier)}`, data: { chunkId, earlier, canUndo } }
      },
    }),
    action({
      name: 'remember_again',
      description: 'Bring back a remembered text that was forgotten a few minutes ago.',
      input: z.strictObject({ chunkId: z.uuid() }),
      risk: 'low',
      async run({ chunkId }, { caller }) {
        const { title } = await forgotten.restore(caller, chunkId)
        return { output: `I remember again: ${title}`, data: { chunkId } }
      },
    }),
  ]
}
