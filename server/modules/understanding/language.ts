import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'

const Words = z.array(z.string())
const Lookup = z.record(z.string(), z.string())
const Numbers = z.record(z.string(), z.number())

const Period = z.object({
  words: Words,
  span: z.enum(['day', 'weekend', 'week', 'month', 'year', 'days']),
  /** How many spans from now, or for `days` how many days from today on. */
  offset: z.number().int(),
})

const Urgent = z.object({
  kind: z.enum(['harm', 'fire', 'hurt', 'danger', 'call']),
  /** Said anywhere in a sentence, or as the whole of it where `^` stands before, they tell of it; templates without slots. */
  signs: Words,
  /** Said with them they take it back. */
  unless: Words,
})

const Intent = z.object({
  /** What can be said, as suggestions show it; `{person}` stands for somebody of the house. */
  examples: Words.default([]),
  /** Whoever asks may fall through to a language model where nothing is found. */
  maybe: z.boolean().default(false),
  /** A sentence with one of these words means something else. */
  unless: Words.default([]),
  /** What was captured as `content` does not begin with these. */
  unlessFirst: Words.default([]),
  /** What was captured as `what` holds none of these. */
  unlessWithin: Words.default([]),
  says: Words,
})

/** A language as data: its words, its sentences and its replies. */
export const Language = z.object({
  language: z.string(),
  words: z.object({
    contractions: Lookup,
    articles: Words,
    /** What is said around a wish without being part of it. */
    before: Words,
    after: Words,
    /** Polite words that may stand in the middle too. */
    anywhere: Words,
    /** Words that are no name, nor begin or end one. */
    notNames: Words,
    and: Words,
    /** Pairs that are one thing although `and` stands in them. */
    together: Words,
    numbers: Numbers,
    multipliers: Numbers,
    /** Stands between ones and tens where they are one word, as in `fünfundzwanzig`. */
    glue: z.string().optional(),
    one: Words,
    fractions: Numbers,
    /** May stand between a fraction and its unit. */
    ofUnit: Words,
    /** May stand between a number and its unit. */
    more: Words,
    units: z.array(
      z.object({
        unit: z.enum(['seconds', 'minutes', 'hours', 'days', 'weeks', 'months', 'years']),
        each: z.number().default(1),
        words: Words,
      }),
    ),
    when: z.object({
      before: Words,
      inTime: Words,
      fromNow: Words,
      lasting: Words,
      every: Words,
      /** After `every`: each second one. */
      other: Words,
      often: Lookup,
      weekdays: z.array(Words).length(7),
      workdays: Words,
      weekends: Words,
      days: Numbers,
      months: Words.length(12),
      /** Words that stand before a day and never before a time of day. */
      dayBefore: Words,
      /** Stands between a day and its month. */
      ofMonth: Words,
      /** Words that nearly are days, and are none. */
      notDays: Words,
      /** Before the last day of what comes again. */
      untilDay: Words,
      /** May stand before a time of day, but not before a day. */
      afterTime: Words,
      /** What makes another time of the one behind it, such as `before`. */
      beside: Words,
      /** Days that are the same each year, as `MM-DD`. */
      dates: Lookup,
      partsOfDay: Numbers,
      ordinalSuffixes: Words,
      ofEveryMonth: Words,
      /** `{minutes} past {hour}`, by sign; and words for a quarter and a half in it. */
      past: Words,
      to: Words,
      quarter: Words,
      halfPast: Words,
      /** Half an hour before the hour that is said. */
      halfTo: Words,
      oclock: Words,
      am: Words,
      pm: Words,
    }),
    periods: z.array(Period),
    lists: z.object({ word: Words, shopping: Words, todo: Words, tasks: Words }),
    operators: Lookup,
    asksForResult: Words,
    /** Said of amounts, and left out when they are reckoned with. */
    money: Words.default([]),
    /** How questions and wishes begin that no house knows an answer to. */
    asks: Words.default([]),
    measures: z.record(z.string(), Words),
    cities: Lookup,
  }),
  rules: Lookup,
  urgent: z.array(Urgent).default([]),
  intents: z.record(z.string(), Intent),
  replies: z.record(z.string(), z.union([z.string(), z.object({ one: z.string(), other: z.string() })])),
})
export type Language = z.output<typeof Language>

/** Reads the languages of a folder on the first call; English is the last resort and so comes last. */
export function languagesIn(folder: string): () => readonly Language[] {
  let read: Language[] | undefined
  return () => {
    read ??= readdirSync(folder)
      .filter((file) => file.endsWith('.json'))
      .map((file) => Language.parse(JSON.parse(readFileSync(join(folder, file), 'utf8'))))
      .toSorted((a, b) => Number(a.language === 'en') - Number(b.language === 'en'))
    return read
  }
}
