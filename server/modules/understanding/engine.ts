import { setImmediate } from 'node:timers/promises'
import type { DateTime } from 'luxon'
import { prepareDates } from './chrono.ts'
import type { Language } from './language.ts'
import { type Match, walk } from './matcher.ts'
import { createPhraseSet, type Phrases, wordsOf } from './phrases.ts'
import { createReaders } from './readers.ts'
import { createItems, finish, type SlotHelp } from './slots.ts'
import { createTemplates, type Program } from './template.ts'
import { fold, said as spoken, tokenize } from './tokens.ts'
import type { UnderstandingContext, Understood } from './understood.ts'
import { isUnlisted } from './unlisted.ts'
import { createUnreadTimes } from './unread-times.ts'

interface Form {
  intent: string
  program: Program
  unless: ReadonlySet<string>
  unlessFirst: Phrases<true>
  unlessWithin: ReadonlySet<string>
  maybe: boolean
}

const MAX_CHARACTERS = 2_000
const MAX_WORDS = 400
/** In longer sentences only templates with one open slot are tried. */
const MANY_WORDS = 60
const SLICE_MS = 5
const MOST_WRAPPINGS = 4
/** What can be asked for after a while, were there something to do it. */
const LATER = new Set(['turn_on', 'turn_off', 'media_play', 'media_pause', 'media_resume', 'media_stop', 'volume_set', 'announce'])

/** What is done at the time that is said, and at no other. */
const TIMED = new Set(['remind', 'todo_add', 'event_add', 'event_named', 'event_remove', 'event_move'])

export type Engine = ReturnType<typeof createEngine>

/** Understands the sentences of one language. */
export function createEngine(language: Language) {
  const { words } = language
  const expansions = new Map(Object.entries(words.contractions).map(([short, full]) => [fold(short), wordsOf(full)]))
  const templates = createTemplates(language.rules, expansions)
  const readers = createReaders(language)
  const unreadTimes = createUnreadTimes(language)
  const before = createPhraseSet(words.before, expansions)
  const after = createPhraseSet(words.after, expansions)
  const anywhere = new Set(words.anywhere.map(fold))
  const asking = createPhraseSet(words.asks, expansions)
  const tasks = new Set(words.lists.tasks.map(fold))
  const itemsOf = createItems(words.and, words.together)

  const byWord = new Map<string, Form[]>()
  const always: Form[] = []
  function* compiling() {
    for (const [intent, { says, unless, unlessFirst, unlessWithin, maybe }] of Object.entries(language.intents)) {
      const veto = new Set(unless.map(fold))
      const vetoFirst = createPhraseSet(unlessFirst, expansions)
      const vetoWithin = new Set(unlessWithin.map(fold))
      for (const template of says) {
        add({ intent, program: templates.compile(template), unless: veto, unlessFirst: vetoFirst, unlessWithin: vetoWithin, maybe })
        yield
      }
    }
  }
  /** Templates that are not compiled yet; done to its end before the first sentence, or before that in slices. */
  const compilation = compiling()

  function add(form: Form): void {
    if (!form.program.needs) always.push(form)
    for (const word of form.program.needs ?? []) {
      const known = byWord.get(word)
      if (known) known.push(form)
      else byWord.set(word, [form])
    }
  }

  /** The words without what is polite around them, then those with more of it. */
  function ranges(said: readonly string[]): [number, number][] {
    const inner = [strip(said, before), strip(said, after, true)] as const
    const all: [number, number][] = [
      [inner[0], inner[1]],
      [inner[0], said.length],
      [0, inner[1]],
      [0, said.length],
    ]
    const seen = new Set<string>()
    return all.filter(([from, to]) => from < to && !seen.has(`${from} ${to}`) && seen.add(`${from} ${to}`))
  }

  function strip(said: readonly string[], phrases: Phrases<true>, atEnd = false): number {
    let at = atEnd ? said.length : 0
    for (let count = 0; count < MOST_WRAPPINGS; count++) {
      const next = atEnd ? phrases.before(said, at)?.start : phrases.at(said, at)?.end
      if (next === undefined) break
      at = next
    }
    return at
  }

  function candidates(said: readonly string[]): Set<Form> {
    const found = new Set<Form>(always)
    for (const word of new Set(said)) for (const form of byWord.get(word) ?? []) found.add(form)
    return found
  }

  return {
    language,
    /** Compiles in slices of a few milliseconds, so that the first sentence does not wait for it. */
    async prepare(): Promise<void> {
      for (let done = false; !done; await setImmediate()) {
        const began = performance.now()
        while (!done && performance.now() - began < SLICE_MS) done = compilation.next().done ?? false
      }
      await prepareDates(language.language)
    },
    /** Whether a text begins as questions and wishes do to which only a model has an answer. */
    asks(text: string): boolean {
      const said = wordsOf(text.slice(0, MAX_CHARACTERS), expansions)
      return said.length > 1 && (asking.at(said, strip(said, before)) !== null || asking.at(said, 0) !== null)
    },
    understand(text: string, context: UnderstandingContext, now: DateTime): Understood | null {
      if (text.length > MAX_CHARACTERS) return null
      for (const _ of compilation); // what is left of it
      const sentence = tokenize(text, expansions, anywhere)
      const said = sentence.tokens.map(({ word }) => word)
      if (said.length === 0 || said.length > MAX_WORDS) return null
      const help: SlotHelp = {
        context,
        now,
        readers,
        itemsOf,
        isTaskList: (list) => list === null || wordsOf(list).some((word) => tasks.has(word)),
        wordsOf: (value) => wordsOf(value, expansions),
        said: (from, to) => spoken(sentence, from, to),
        isAsked: /[?？]\s*$/.test(text),
        isNegative: (at) => /(?:^|\s)[-−–]$/.test(sentence.text.slice(0, sentence.tokens[at]?.start)) && /^\d/.test(said[at] ?? ''),
      }
      const forms = [...candidates(said)].filter(
        ({ unless, program }) => (said.length <= MANY_WORDS || program.open <= 1) && !said.some((word) => unless.has(word)),
      )
      const spans = readers.spansOf(sentence, said, context, now)
      const understood = (intent: string, slots: Record<string, unknown>, maybe = false): Understood => ({
        intent,
        slots,
        language: language.language,
        maybe,
      })

      function best(from: number, to: number): Understood | null {
        const matches: { form: Form; match: Match }[] = []
        for (const form of forms) {
          const match = walk(form.program, said, from, to, spans)
          const content = match?.captures.find(({ as }) => as === 'content')
          if (content && form.unlessFirst.at(said, content.start)) continue
          const what = form.unlessWithin.size > 0 && match?.captures.find(({ as }) => as === 'what')
          if (what && said.slice(what.start, what.end).some((word) => form.unlessWithin.has(word))) continue
          if (match) matches.push({ form, match })
        }
        matches.sort((a, b) => a.match.guessed - b.match.guessed || Number(a.form.maybe) - Number(b.form.maybe))
        for (const { form, match } of matches) {
          if (form.intent === 'list_need' && isUnlisted(match.captures, spans, help.said, readers)) continue
          const slots = finish(form.intent, match.captures, help)
          if (!slots) continue
          const unread = TIMED.has(form.intent) ? unreadTimes.in(said, match.captures, spans) : null
          if (unread) return understood('when_unread', { words: help.said(unread.from, unread.to) })
          return understood(form.intent, slots, form.maybe)
        }
        return null
      }

      function calculation(from: number, to: number): Understood | null {
        const [first, last] = [sentence.tokens[from], sentence.tokens[to - 1]]
        if (!first || !last) return null
        // Signs are no words: they stand before the first and behind the last.
        const start = from === 0 ? 0 : first.start
        const end = to === said.length ? text.length : last.end
        const found = readers.arithmetic.read(
          text
            .slice(start, end)
            .trim()
            .replace(/(?<![.!])[.!]+$/, ''),
        )
        return found && understood(Number.isFinite(found.result) ? 'calculate' : 'divide_by_zero', { ...found })
      }

      /** `turn off the lamp in 10 minutes`, `in an hour stop the music`. */
      function later(from: number, to: number): Understood | null {
        for (let at = from; at < to; at++) {
          for (const { end, value } of spans('when', at)) {
            const { inTime } = value as { inTime?: { ms: number } }
            if (!inTime || (at === from) === (end === to)) continue
            const inner = at === from ? best(end, to) : end === to ? best(from, at) : null
            if (inner && LATER.has(inner.intent))
              return understood('later', { command: inner.intent, slots: inner.slots, durationMs: inTime.ms })
          }
        }
        return null
      }

      for (const [from, to] of ranges(said)) {
        const found = calculation(from, to) ?? best(from, to) ?? (to - from <= MANY_WORDS ? later(from, to) : null)
        if (found) return found
      }
      return null
    },
  }
}
