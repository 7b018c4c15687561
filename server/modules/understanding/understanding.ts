import { DateTime } from 'luxon'
import { actionWordsOf } from './action-words.ts'
import { createEngine, type Engine } from './engine.ts'
import type { Language } from './language.ts'
import { createSuggestions } from './suggestions.ts'
import type { UnderstandingContext, Understood } from './understood.ts'
import { createUrgency, type Urgency } from './urgency.ts'

export interface UnderstandingOptions {
  /** Asked on the first sentence; those earlier in the list are tried first where the household’s locale decides nothing. */
  languages: () => readonly Language[]
}

export type Understanding = ReturnType<typeof createUnderstanding>

const languageOf = (locale: string) => locale.split('-')[0]?.toLowerCase() ?? ''

/** Understands what is said to the house without any model: a sentence as a whole, or not at all. */
export function createUnderstanding({ languages }: UnderstandingOptions) {
  const engines = new Map<Language, Engine>()
  const suggestions = new Map<Language, ReturnType<typeof createSuggestions>>()
  const urgencies = new Map<Language, ReturnType<typeof createUrgency>>()
  const actionWords = new Map<Language, ReturnType<typeof actionWordsOf>>()
  let preparing: Promise<void> | undefined

  function ordered(locale: string): Language[] {
    const own = languageOf(locale)
    return languages().toSorted((a, b) => Number(b.language === own) - Number(a.language === own))
  }

  function engineOf(language: Language): Engine {
    const ready = engines.get(language) ?? createEngine(language)
    engines.set(language, ready)
    return ready
  }

  function urgencyOf(language: Language) {
    const ready = urgencies.get(language) ?? createUrgency(language)
    urgencies.set(language, ready)
    return ready
  }

  /** The data of a language by its name, of the household's, or else of English. */
  function languageFor(locale: string, name = languageOf(locale)): Language {
    const language = languages().find((each) => each.language === name) ?? languages().at(-1)
    if (!language) throw new Error('There is no language')
    return language
  }

  return {
    languageFor,
    /** With which words people of a locale ask for each of the house's own actions. */
    actionWords(locale: string): ReadonlyMap<string, readonly string[]> {
      const language = languageFor(locale)
      const words = actionWords.get(language) ?? actionWordsOf(language)
      actionWords.set(language, words)
      return words
    },
    /** Reads and compiles everything in the background; a sentence said meanwhile does not wait for it. */
    prepare(): Promise<void> {
      preparing ??= (async () => {
        for (const language of languages()) {
          await engineOf(language).prepare()
          await urgencyOf(language).prepare()
        }
      })().catch((error: unknown) => {
        preparing = undefined // what could not be read now may be read at the next sentence
        throw error
      })
      return preparing
    },
    /** Null where some of it is not understood. The first call compiles the languages. */
    understand(text: string, context: UnderstandingContext): Understood | null {
      const now = DateTime.fromJSDate(context.now, { zone: context.timezone })
      if (!now.isValid) return null
      for (const language of ordered(context.locale)) {
        const understood = engineOf(language).understand(text, context, now)
        if (understood) return understood
      }
      return null
    },
    /** Whether somebody is in danger by what was said, in whatever language. */
    urgency(text: string, locale: string): { kind: Urgency; language: string } | null {
      for (const language of ordered(locale)) {
        const kind = urgencyOf(language).hear(text)
        if (kind) return { kind, language: language.language }
      }
      return null
    },
    /** Whether it begins as questions do, in whatever language. */
    isQuestion: (text: string, locale: string) =>
      /\s.*[?？]\s*$/s.test(text.trimStart()) || ordered(locale).some((language) => engineOf(language).asks(text)),
    /** Sentences that would be understood, nearest to what was said first; in the household's language, of the intents that may be offered. */
    suggest(text: string, context: UnderstandingContext, mayOffer: (intent: string) => boolean = () => true): string[] {
      const language = languageFor(context.locale)
      const nearest = suggestions.get(language) ?? createSuggestions(language)
      suggestions.set(language, nearest)
      const others = context.names.people.filter(({ id }) => id !== context.speaker?.id)
      return nearest(text, mayOffer, others[0]?.name)
    },
  }
}
