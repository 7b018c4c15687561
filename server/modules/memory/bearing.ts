import { tellingStems } from './plain-words.ts'
import { stem } from './ranking/stem.ts'
import { wordVectorsOrNone } from './ranking/word-vectors.ts'
import { isCharacter, wordsOf } from './ranking/words.ts'

/** Words less alike in meaning than this do not stand for one another. */
const ALIKE = 0.55
const MAX_TEXT = 2_000

/**
 * Measures how far texts bear on a sentence, from 0 to 1: which share of what it is about they mention, in the same words or, for less,
 * in words of like meaning; rare words weigh more than common ones. Other than a place in a ranking it says when nothing bears on it.
 */
export async function bearingOn(
  sentence: string,
  resourcesPath: string,
  onFault: (error: unknown) => void,
): Promise<(text: string) => number> {
  const vectors = await wordVectorsOrNone(resourcesPath, onFault)
  const stems = tellingStems(sentence)
  const asked = [...new Map(wordsOf(sentence.slice(0, MAX_TEXT)).map((word) => [stem(word), word]))]
    .filter(([root]) => stems.has(root))
    .map(([root, word]) => {
      const rank = vectors.find(word)
      return { root, rank, weight: Math.log(1 / vectors.frequency(rank)) }
    })
  const total = asked.reduce((sum, { weight }) => sum + weight, 0)
  return (text) => {
    if (total === 0) return 0
    const words = [...new Set(wordsOf(text.slice(0, MAX_TEXT)))]
    const roots = new Set(words.map(stem))
    const ranks = words.map((word) => vectors.find(word)).filter((rank) => rank >= 0)
    let met = 0
    for (const { root, rank, weight } of asked) {
      if (roots.has(root) || (isCharacter(root) && words.some((word) => word.includes(root)))) met += weight
      else if (rank >= 0) {
        const likeness = Math.max(0, ...ranks.map((other) => vectors.similarity(rank, other)))
        if (likeness >= ALIKE) met += weight * likeness ** 2
      }
    }
    return met / total
  }
}
