import BetterSqlite3 from 'better-sqlite3'

const FUNCTION_WORDS = new Set(
  `a an the and or but if of at by for with about to from in on off is are was were be been being do does did have has had i you he
  she it we they him his her their my your our me us them this that these those what which who whom when where why how not no so than
  too very can will just should would could s t as`.split(/\s+/),
)

/** What SQLite finds by itself: full text with the Porter stemmer, ranked by BM25, any of the question's words but function words. */
export function bm25(texts: readonly string[]): { search(question: string, limit: number): number[]; close(): void } {
  const db = new BetterSqlite3(':memory:')
  db.exec(`CREATE VIRTUAL TABLE chunk USING fts5(content, tokenize='porter unicode61')`)
  const insert = db.prepare('INSERT INTO chunk (rowid, content) VALUES (?, ?)')
  db.transaction(() => {
    for (const [at, text] of texts.entries()) insert.run(at + 1, text)
  })()
  const find = db.prepare('SELECT rowid FROM chunk WHERE chunk MATCH ? ORDER BY rank LIMIT ?')
  return {
    search(question, limit) {
      const words = (question.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []).filter((word) => !FUNCTION_WORDS.has(word))
      if (words.length === 0) return []
      return find.all(words.map((word) => `"${word}"`).join(' OR '), limit).map((row) => (row as { rowid: number }).rowid - 1)
    },
    close: () => db.close(),
  }
}
