import type { Passage } from './passage.ts'
import type { Question } from './question.ts'
import { dayOf, fitOf, type Period } from './spoken-dates.ts'

/** What of a question's words a chunk's neighbours hold counts for it too, by their distance in the same talk. */
const BORROWED: readonly (readonly [distance: number, share: number])[] = [
  [-3, 0.5],
  [-2, 0.65],
  [-1, 0.8],
  [1, 0.65],
  [2, 0.5],
  [3, 0.4],
]
export const REACH = 3
/** Chunks of one category belong to one talk while no pause is longer than this. */
const PAUSE_MS = 12 * 3_600_000

/** Beside the words met (1 for all of them); round numbers on a broad plateau, none is critical. */
const WEIGHT = {
  /** The best that the whole talk holds of the words. */
  talk: 0.3,
  /** It is by, or about, the person asked about; or names them, where nobody is said to have said it. */
  person: 0.27,
  mentioned: 0.05,
  /** First among the nearest vectors; the tenth has half. */
  nearest: 0.15,
  period: 0.2,
  /** A question rarely answers one. */
  question: -0.06,
  timeWord: 0.07,
  amount: 0.1,
  /** For each doubling of the words, up to 64 of them. */
  length: 0.02,
  pinned: 0.03,
  ownPerson: 0.04,
  /** For a chunk of today; a chunk a year old has half. */
  recent: 0.02,
}
/** Words that say when or how much count up to so many. */
const MAX_HINTS = 3
const NEAREST_HALF = 10
const RECENT_HALF_MS = 365 * 86_400_000

export interface Candidate {
  seq: number
  personId: string | null
  category: string
  at: number
  pinned: boolean
  passage: Passage
  /** How well each term of the question is met. */
  met: Float32Array
  /** Place among the nearest vectors from 0; null for a chunk that is not among them. */
  nearestRank: number | null
}

export interface Aim {
  question: Question
  /** What each term of the question weighs. */
  weights: readonly number[]
  /** The time that the question names. */
  period: Period | null
  /** The names, as small words, by which each person is called. */
  namesOf: ReadonlyMap<string, ReadonlySet<string>>
  preferPersonId: string | null
  now: number
  /** Minutes that the household's zone is ahead of UTC. */
  offset: number
}

/** The people asked about: words of the question that are the name of somebody who speaks or is meant in the candidates. */
function peopleIn(candidates: readonly Candidate[], { question, namesOf }: Aim): Set<string> {
  const asked = new Set(question.terms.map(({ word }) => word))
  const people = new Set<string>()
  for (const { passage, personId } of candidates) {
    for (const word of passage.speaker) if (asked.has(word)) people.add(word)
    for (const word of (personId && namesOf.get(personId)) || []) if (asked.has(word)) people.add(word)
  }
  return people
}

/** The talk of every candidate: its category and person, until a long pause. */
function talksOf(candidates: readonly Candidate[]): Map<number, number> {
  const talks = new Map<number, number>()
  const last = new Map<string, { at: number; talk: number }>()
  let count = 0
  for (const { seq, category, personId, at } of candidates.toSorted((a, b) => a.at - b.at || a.seq - b.seq)) {
    const key = `${personId ?? ''}\n${category}`
    const before = last.get(key)
    const talk = before && at - before.at <= PAUSE_MS ? before.talk : count++
    last.set(key, { at, talk })
    talks.set(seq, talk)
  }
  return talks
}

function hints({ words }: Passage, kind: 'saysWhen' | 'saysHowMuch'): number {
  let count = 0
  for (const word of words) if (word[kind]) count++
  return Math.min(MAX_HINTS, count)
}

/** Scores every candidate; about 1 says that all words asked for are met. */
export function scoresOf(candidates: readonly Candidate[], aim: Aim): number[] {
  const { question, period, namesOf } = aim
  const people = peopleIn(candidates, aim)
  const weights = aim.weights.map((weight, at) => (people.has(question.terms[at]?.word ?? '') ? 0 : weight))
  const total = weights.reduce((sum, weight) => sum + weight, 0) || 1
  const share = (met: Float32Array) => {
    let sum = 0
    for (let at = 0; at < met.length; at++) sum += (weights[at] as number) * (met[at] as number)
    return sum / total
  }
  const raise = (met: Float32Array, other: Float32Array, worth: number) => {
    for (let at = 0; at < met.length; at++) met[at] = Math.max(met[at] as number, worth * (other[at] as number))
  }

  const bySeq = new Map(candidates.map((candidate) => [candidate.seq, candidate]))
  const talks = talksOf(candidates)
  const bestOfTalk = new Map<number, Float32Array>()
  for (const { seq, met } of candidates) {
    const talk = talks.get(seq) ?? -1
    const best = bestOfTalk.get(talk)
    if (best) raise(best, met, 1)
    else bestOfTalk.set(talk, met.slice())
  }
  const shareOfTalk = new Map([...bestOfTalk].map(([talk, best]) => [talk, share(best)]))

  function aboutPeople({ passage, personId }: Candidate): number {
    if (people.size === 0) return 0
    const own = [...passage.speaker, ...((personId && namesOf.get(personId)) || [])]
    if (own.some((name) => people.has(name))) return WEIGHT.person
    if (!passage.words.some(({ word }) => people.has(word))) return 0
    return own.length === 0 ? WEIGHT.person : WEIGHT.mentioned
  }

  return candidates.map((candidate) => {
    const { seq, passage, personId, at } = candidate
    const talk = talks.get(seq) ?? -1
    const met = candidate.met.slice()
    for (const [distance, worth] of BORROWED) {
      const neighbour = bySeq.get(seq + distance)
      if (neighbour && talks.get(neighbour.seq) === talk) raise(met, neighbour.met, worth)
    }
    let score = share(met) + WEIGHT.talk * (shareOfTalk.get(talk) ?? 0) + aboutPeople(candidate)
    if (candidate.nearestRank !== null) score += WEIGHT.nearest / (1 + candidate.nearestRank / NEAREST_HALF)
    if (period) score += WEIGHT.period * fitOf(dayOf(at, aim.offset), period)
    if (passage.isQuestion) score += WEIGHT.question
    if (question.asksWhen) score += WEIGHT.timeWord * hints(passage, 'saysWhen')
    if (question.asksHowMuch) score += WEIGHT.amount * hints(passage, 'saysHowMuch')
    score += WEIGHT.length * Math.log2(1 + Math.min(63, passage.words.length))
    if (candidate.pinned) score += WEIGHT.pinned
    if (personId !== null && personId === aim.preferPersonId) score += WEIGHT.ownPerson
    return score + WEIGHT.recent / (1 + Math.max(0, aim.now - at) / RECENT_HALF_MS)
  })
}
