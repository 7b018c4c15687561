/** What a model was trained to see before a text. */
export interface Prefixes {
  query: string
  passage: string
}

const NONE: Prefixes = { query: '', passage: '' }
const BGE = 'Represent this sentence for searching relevant passages: '

/** By families of models, from their model cards; the first that matches counts. */
const FAMILIES: readonly [RegExp, Prefixes][] = [
  [/nomic[-_. ]?embed/, { query: 'search_query: ', passage: 'search_document: ' }],
  [/embedding[-_. ]?gemma|gemma[-_. ]?embedding/, { query: 'task: search result | query: ', passage: 'title: none | text: ' }],
  [
    /qwen3[-_. ]?embedding/,
    { query: 'Instruct: Given a question, retrieve the notes of a household that answer it\nQuery: ', passage: '' },
  ],
  [/arctic[-_. ]?embed.*v2/, { query: 'query: ', passage: '' }],
  [/bge[-_. ]?m3/, NONE],
  [/bge[-_. ](small|base|large)[-_. ]en|mxbai[-_. ]?embed|arctic[-_. ]?embed/, { query: BGE, passage: '' }],
  [/(^|[-_. /])e5[-_. ]/, { query: 'query: ', passage: 'passage: ' }],
]

/** What to set before a text, from the names of a model: its file's, and the one its makers gave it. */
export function prefixesFor(...names: (string | null)[]): Prefixes {
  const known = names.filter((name) => name !== null).map((name) => name.toLowerCase())
  return FAMILIES.find(([family]) => known.some((name) => family.test(name)))?.[1] ?? NONE
}
