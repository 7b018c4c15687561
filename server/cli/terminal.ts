import { createInterface } from 'node:readline'
import { Writable } from 'node:stream'
import { type Config, ConfigError, readConfig } from '../config.ts'
import { findPaths } from '../paths.ts'

const CONFIG_FAULT = 78
const INTERRUPTED = 130

export interface Terminal {
  /** Resolves with the next line that is typed, or with an empty one where the input is at its end. */
  ask(question: string, options?: { hidden: boolean }): Promise<string>
}

/** Asks on the terminal, or of whatever is piped into this process; `hidden` answers are not shown while they are typed. */
export function openTerminal(): Terminal {
  const onTerminal = process.stdin.isTTY === true
  let isHidden = false
  let isAtEnd = false
  let heard: ((answer: string) => void) | null = null
  /** Lines that were typed before they were asked for: a pipe hands over all of its lines at once. */
  const early: string[] = []
  const output = new Writable({
    write(chunk, _encoding, done) {
      if (!isHidden) process.stdout.write(chunk)
      done()
    },
  })
  const lines = createInterface({ input: process.stdin, output, terminal: onTerminal })
  lines.on('line', (line) => {
    early.push(line)
    answer()
  })
  lines.on('SIGINT', () => process.exit(INTERRUPTED))
  lines.on('close', () => {
    isAtEnd = true
    answer()
  })

  function answer(): void {
    if (!heard || (early.length === 0 && !isAtEnd)) return
    heard(early.shift() ?? '')
    heard = null
  }

  return {
    async ask(question, { hidden } = { hidden: false }) {
      lines.setPrompt(question)
      if (isAtEnd) process.stdout.write(question)
      else lines.prompt()
      isHidden = hidden
      const line = await new Promise<string>((resolve) => {
        heard = resolve
        answer()
      })
      isHidden = false
      if (hidden) process.stdout.write('\n')
      return line.trim()
    },
  }
}

/** Says a last line and ends this process. */
export function end(line: string, status: number): never {
  process.stdout.write(`${line}\n`)
  process.exit(status)
}

/** The configuration that the server would read; ends this process with one line per fault where it would not start. */
export function configOrEnd(): Config {
  try {
    return readConfig(process.env, findPaths(`${import.meta.dirname}/..`).checkout)
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    process.stderr.write(`${error.message}\n`)
    process.exit(CONFIG_FAULT)
  }
}
