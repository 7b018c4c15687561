import type { Match } from './passage.ts'
import { fitOf, type Period } from './spoken-dates.ts'

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
  nearest: 0.2,
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
const NEAREST_HALF = 10
const RECENT_HALF_MS = 365 * 86_400_000

export interface Candidate {
  seq: number
  personId: string | null
  category: string
  at: number
  day: string
  pinned: boolean
  match: Match
  /** Place among the nearest vectors from 0; null for a chunk that is not among them. */
  nearestRank: number | null
}

export interface Aim {
  /** The words of the question: the weight of each, in the order of `Match.terms`. */
  weights: readonly number[]
  words: readonly string[]
  periods: readonly Period[]
  /** The names, as small words, by which each person is called. */
  namesOf: ReadonlyMap<string, ReadonlySet<string>>
  preferPersonId: string | null
  now: number
}

/** The people asked about: words of the question that are the name of somebody who speaks or is meant in the candidates. */
function peopleIn(candidates: readonly Candidate[], { words, namesOf }: Aim): Set<string> {
  const names = new Set<string>()
  for (const { match, personId } of candidates) {
    for (const word of match.speaker) names.add(word)
    for (const word of (personId && namesOf.get(personId)) || []) names.add(word)
  }
  return new Set(words.filter((word) => names.has(word)))
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

/** Scores every candidate; about 1 says that all words asked for are met. */
export function scoresOf(candidates: readonly Candidate[], aim: Aim): number[] {
  const people = peopleIn(candidates, aim)
  const weights = aim.weights.map((weight, at) => (people.has(aim.words[at] ?? '') ? 0 : weight))
  const total = weights.reduce((sum, weight) => sum + weight, 0) || 1
  const bySeq = new Map(candidates.map((candidate) => [candidate.seq, candidate]))
  const talks = talksOf(candidates)

  const bestOfTalk = new Map<number, Float32Array>()
  for (const { seq, match } of candidates) {
    const talk = talks.get(seq) ?? -1
    const best = bestOfTalk.get(talk) ?? new Float32Array(weights.length)
    for (let at = 0; at < best.length; at++) best[at] = Math.max(best[at] as number, match.terms[at] as number)
    bestOfTalk.set(talk, best)
  }
  const share = (met: Float32Array) => weights.reduce((sum, weight, at) => sum + weight * (met[at] as number), 0) / total

  return candidates.map((candidate) => {
    const { seq, match, personId } = candidate
    const talk = talks.get(seq) ?? -1
    const met = match.terms.slice()
    for (const [distance, worth] of BORROWED) {
      const neighbour = bySeq.get(seq + distance)
      if (!neighbour || talks.get(neighbour.seq) !== talk) continue
      for (let at = 0; at < met.length; at++) met[at] = Math.max(met[at] as number, worth * (neighbour.match.terms[at] as number))
    }
    let score = share(met) + WEIGHT.talk * share(bestOfTalk.get(talk) ?? met)

    if (people.size > 0) {
      const own = [...match.speaker, ...((personId && aim.namesOf.get(personId)) || [])]
      if (own.some((name) => people.has(name))) score += WEIGHT.person
      else if ([...people].some((name) => match.mentions(name))) score += own.length === 0 ? WEIGHT.person : WEIGHT.mentioned
    }
    if (candidate.nearestRank !== null) score += WEIGHT.nearest / (1 + candidate.nearestRank / NEAREST_HALF)
    score += WEIGHT.period * aim.periods.reduce((best, period) => Math.max(best, fitOf(candidate.day, period)), 0)
    if (match.isQuestion) score += WEIGHT.question
    score += WEIGHT.timeWord * match.timeWords + WEIGHT.amount * match.amounts
    score += WEIGHT.length * Math.log2(1 + Math.min(63, match.words))
    if (candidate.pinned) score += WEIGHT.pinned
    if (personId !== null && personId === aim.preferPersonId) score += WEIGHT.ownPerson
    return score + WEIGHT.recent / (1 + Math.max(0, aim.now - candidate.at) / RECENT_HALF_MS)
  })
}
