const WORD = /[\p{L}\p{N}]+(?:['’]\p{L}+)?|\p{Extended_Pictographic}/gu
const SCRIPT_WITHOUT_SPACES = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}]/u
const CLITIC = /['’](s|ll|re|ve|d|m|t)$/

/** Words that hold a sentence together and say nothing of what it is about. */
const FUNCTION_WORDS = new Set(
  `a an the and or but if of at by for with about to from in on off is are was were be been being do does did have has had i you he
  she it we it they him his her their my your our me us them this that these those what which who whom when where why how not no so
  than too very can will just should would could s t as`.split(/\s+/),
)
export const isFunctionWord = (word: string): boolean => FUNCTION_WORDS.has(word)

const ASCII = /^[\0-\x7f]*$/

/** What `WORD` finds in plain ASCII, three times as fast. */
const ASCII_WORD = /[a-z0-9]+(?:'[a-z]+)?/g

/** The words of a text in order, small and without accents; writing without spaces falls into pairs of characters. */
export function wordsOf(text: string): string[] {
  if (ASCII.test(text)) return text.toLowerCase().match(ASCII_WORD)?.map(withoutClitic) ?? []
  const plain = text
    .normalize('NFKD')
    .replaceAll(/\p{M}+/gu, '')
    .normalize('NFC')
    .toLowerCase()
  return plain.match(WORD)?.flatMap((word) => (SCRIPT_WITHOUT_SPACES.test(word) ? pairs(word) : withoutClitic(word))) ?? []
}

function withoutClitic(word: string): string {
  return CLITIC.test(word) ? word.replace(/n?['’]t$/, '').replace(CLITIC, '') || word : word
}

function pairs(text: string): string[] {
  const characters = [...text]
  return characters.length < 2 ? characters : characters.slice(1).map((character, at) => `${characters[at]}${character}`)
}

/** Whether a word is of a script without spaces, of which no index knows where one begins. */
export const isUnspaced = (word: string): boolean => SCRIPT_WITHOUT_SPACES.test(word)

/** Whether a word asked for is a single character, which stands inside of the pairs that a text falls into. */
export const isCharacter = (word: string): boolean => [...word].length === 1 && isUnspaced(word)

/** The runs of three characters in a word with its two ends, by which words that no dictionary knows are compared. */
export function trigramsOf(word: string): string[] {
  const characters = [...`^${word}$`]
  return characters.length < 3 ? [word] : characters.slice(2).map((character, at) => `${characters[at]}${characters[at + 1]}${character}`)
}
