import type { Database, Transaction } from '../../db/database.ts'
import type { Caller } from '../../kit/caller.ts'
import { AppError } from '../../kit/errors.ts'
import type { Logger } from '../../kit/log.ts'
import { type MessageRow, MessageTable } from '../chat/chat.table.ts'
import type { HouseholdService } from '../household/household.service.ts'
import { type ExtractionRow, ExtractionTable } from '../memory/memory.table.ts'
import type { Llm } from '../models/llm.ts'
import { Extraction, extractionMessages, extractionSchema } from './extraction-prompt.ts'
import { overlap, shareSaid } from './said-words.ts'

export interface KnownNote {
  id: string
  content: string
  /** A person wrote it, or pinned or promoted it: no model replaces it. */
  isKept: boolean
}

/** A fact that was learned; `supersedes` is what it contradicts. */
export interface LearnedFact {
  content: string
  category: string
  personId: string | null
  conversationId: string
  messageId: string
  observedAt: string
  supersedes: string | null
  /** Whether it may be kept, within the write: its message may have been deleted, or whom it is about erased, while it was read. */
  isStillSaid(): boolean
}

/** Memory as learning needs it. */
export interface LearningMemory {
  /** What is remembered that comes nearest to a text, of the person's and the household's own. */
  nearest(text: string, personId: string | null, limit: number): Promise<KnownNote[]>
  /** Whether what one text says could contradict the other, the names in them aside. */
  isOfSameSubject(one: string, other: string, names: readonly string[]): Promise<boolean>
  /** Throws 404 where it is not said any more. */
  keep(fact: LearnedFact): Promise<void>
}

export interface LearningDeps {
  db: Database
  llm: Llm
  memory: LearningMemory
  household: HouseholdService
  /** Whether somebody is being answered; learning waits for that. */
  isBusy(): boolean
  log: Logger
}

/** Shorter messages tell nothing that lasts. */
const LEAST_WORDS = 3
const MAX_SAID = 4_000
const MAX_FACTS = 5
const MOST_TRIES = 3
const KNOWN_NOTES = 6
/** Of a fact's words, the part that the person must have said. */
const LEAST_SAID = 0.5
const SAME = 0.8
const WAIT_MS = { busy: 2_000, noModel: 60_000 }

const wordsIn = (text: string) => text.match(/[\p{L}\p{N}]+/gu)?.length ?? 0

export type LearningService = ReturnType<typeof createLearningService>

/**
 * Reads what people said for what is worth remembering, one message after the other, while nobody is being answered. What is still to be
 * read is a row, so that a stop of the server forgets none. Only a person's own message is read: neither replies nor what was recalled.
 */
export function createLearningService({ db, llm, memory, household, isBusy, log }: LearningDeps) {
  let stopping: AbortController | null = null
  let timer: NodeJS.Timeout | undefined
  let working: Promise<void> | null = null

  const isStillSaid = ({ id }: ExtractionRow): boolean =>
    db.get(ExtractionTable, id) !== undefined && db.first(MessageTable, { id }) !== undefined

  async function extract(row: ExtractionRow, message: MessageRow, signal: AbortSignal): Promise<void> {
    const { household: home, persons } = household.get()
    const speaker = persons.find(({ id }) => id === row.personId)
    const said = message.content.slice(0, MAX_SAID)
    const known = await memory.nearest(said, row.personId, KNOWN_NOTES)
    const date = new Intl.DateTimeFormat(home.locale, { timeZone: home.timezone, dateStyle: 'full' }).format(new Date(message.createdAt))
    const { text, stopReason } = await llm.generate({
      conversationId: 'learning',
      fairKey: 'learning',
      messages: extractionMessages({
        speaker: speaker?.displayName ?? 'somebody of the household',
        date,
        said,
        known: known.map(({ content }) => content),
      }),
      jsonSchema: extractionSchema,
      temperature: 0,
      maxTokens: 500,
      signal,
      onText: () => undefined,
    })
    if (stopReason === 'aborted') throw signal.reason
    if (stopReason === 'length') return // it would be cut at the same place again
    const names = persons.flatMap(({ displayName, aliases }) => [displayName, ...aliases])
    for (const fact of Extraction.parse(JSON.parse(text)).facts.slice(0, MAX_FACTS)) {
      const content = fact.text.trim()
      if (content === '' || shareSaid(content, said, names) < LEAST_SAID) continue
      if (!isStillSaid(row)) return
      if (known.some((note) => overlap(note.content, content) >= SAME)) continue
      const old = known[fact.replaces - 1]
      // a model’s word alone makes nothing history
      const isReplaced = old && !old.isKept && (await memory.isOfSameSubject(content, old.content, names))
      await memory.keep({
        content,
        category: fact.category,
        personId: fact.about === 'speaker' ? row.personId : null,
        conversationId: row.conversationId,
        messageId: row.id,
        observedAt: message.createdAt,
        supersedes: isReplaced ? old.id : null,
        isStillSaid: () => isStillSaid(row),
      })
    }
  }

  /** Reads one message; false where that cannot be done now. */
  async function readOne(row: ExtractionRow, signal: AbortSignal): Promise<boolean> {
    const message = db.first(MessageTable, { id: row.id })
    try {
      if (message) await extract(row, message, signal)
      await db.write((tx) => tx.remove(ExtractionTable, { id: row.id }))
    } catch (error) {
      if (signal.aborted || (error instanceof AppError && ['no_model', 'model_unavailable', 'busy'].includes(error.code))) return false
      const tries = isStillSaid(row) ? row.tries + 1 : MOST_TRIES
      if (isStillSaid(row)) log.warn({ err: error, messageId: row.id }, 'a message could not be read for what is worth remembering')
      await db.write((tx) =>
        tries < MOST_TRIES ? tx.update(ExtractionTable, row.id, { tries }) : tx.remove(ExtractionTable, { id: row.id }),
      )
    }
    return true
  }

  async function work(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const [row] = db.find(ExtractionTable, {}, { order: 'createdAt asc', limit: 1 })
      if (!row) return
      if (isBusy()) return later(WAIT_MS.busy)
      if (!(await readOne(row, signal))) return later(WAIT_MS.noModel)
    }
  }

  function later(waitMs: number): void {
    if (!stopping) return
    clearTimeout(timer)
    timer = setTimeout(wake, waitMs)
  }

  function wake(): void {
    if (!stopping || working) return
    working = work(stopping.signal)
      .catch((err: unknown) => {
        log.error({ err }, 'learning from what was said failed')
        later(WAIT_MS.noModel)
      })
      .finally(() => {
        working = null
      })
  }

  return {
    /** Notes, within the write that finishes a reply, that a person's message is to be read. Guests are not learned from. */
    learnFrom(tx: Transaction, said: MessageRow, { scope, personId }: Caller): void {
      if (scope === 'guest' || wordsIn(said.content) < LEAST_WORDS) return
      const { conversationId, id, createdAt } = said
      tx.insert(ExtractionTable, { id, conversationId, personId, tries: 0, createdAt })
      tx.afterCommit(() => later(0))
    },

    async start(): Promise<void> {
      stopping = new AbortController()
      wake()
    },

    async stop(): Promise<void> {
      clearTimeout(timer)
      stopping?.abort()
      stopping = null
      await working
    },
  }
}
