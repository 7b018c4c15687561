import { createInterface } from 'node:readline/promises'
import { Writable } from 'node:stream'

/** Asks on the terminal; `hidden` answers are not shown while they are typed. */
export async function ask(question: string, { hidden = false } = {}): Promise<string> {
  process.stdout.write(question)
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() })
  const lines = createInterface({ input: process.stdin, output: hidden ? silent : process.stdout, terminal: hidden && process.stdin.isTTY })
  const answer = await new Promise<string>((resolve) => {
    lines.once('line', resolve)
    lines.once('close', () => resolve(''))
  })
  lines.close()
  if (hidden) process.stdout.write('\n')
  return answer.trim()
}
