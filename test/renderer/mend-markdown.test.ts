import { describe, expect, it } from 'vitest'
import { mendMarkdown } from '../../renderer/features/chat/mend-markdown.ts'

describe('markdown that is still being written', () => {
  it.each([
    ['plain text', 'Good morning', 'Good morning'],
    ['bold that is open', 'It is **very imp', 'It is **very imp**'],
    ['bold that is closing', 'It is **important*', 'It is **important**'],
    ['bold that is closed', 'It is **important** now', 'It is **important** now'],
    ['a bold mark with nothing behind it', 'It is **', 'It is '],
    ['emphasis that is open', 'It is *very imp', 'It is *very imp*'],
    ['a sum', '2 * 3', '2 * 3'],
    ['a name in snake case', 'call snake_case', 'call snake_case'],
    ['code that is open', 'Run `npm sta', 'Run `npm sta`'],
    ['a list inside open code', 'Run `a[0', 'Run `a[0`'],
    ['a link without its address', 'See [the manual](https://exa', 'See the manual'],
    ['a whole link', 'See [the manual](https://example.org) too', 'See [the manual](https://example.org) too'],
    ['a heading mark alone', 'Text\n\n##', 'Text\n\n'],
    ['a rule or heading underline under a paragraph', 'Text\n-', 'Text\n'],
    ['a list number alone', 'Steps\n1.', 'Steps\n'],
    ['half a fence', 'Text\n\n``', 'Text\n\n'],
    ['an open fence', 'Text\n```ts\nconst a = **', 'Text\n```ts\nconst a = **'],
    ['a closing fence in the making', '```ts\nlet a\n``', '```ts\nlet a\n'],
    ['the first line of a table', 'Prices\n\n| what | price', 'Prices\n\n'],
    ['a table without rows', '| a | b |\n|---|---|\n', '| a | b |\n|---|---|\n'],
    ['a row that is not whole', '| a | b |\n|---|---|\n| 1 | 2 |\n| 3', '| a | b |\n|---|---|\n| 1 | 2 |\n'],
    ['half an entity', 'Fish &am', 'Fish '],
  ])('%s', (_, written, shown) => {
    expect(mendMarkdown(written)).toBe(shown)
  })

  it('never holds back more than the last line of prose', () => {
    const reply = 'Here is **one** thing:\n\n- a `list` of\n- *things*\n\nAnd [a link](https://example.org), then 3 < 4 & so on.'
    for (let length = 1; length <= reply.length; length++) {
      const written = reply.slice(0, length)
      const settled = written.slice(0, written.lastIndexOf('\n') + 1)
      expect(mendMarkdown(written).startsWith(settled.trimEnd()), `after ${length} characters`).toBe(true)
    }
  })
})
