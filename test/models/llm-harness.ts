import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createLog } from '../../server/kit/log.ts'
import { createLanguageModel } from '../../server/modules/models/language-model.ts'
import type { GenerateRequest, GenerateResult, Llm, LlmMessage } from '../../server/modules/models/llm.ts'
import { createModelFiles } from '../../server/modules/models/shelf/model-files.ts'
import { createModelShelf } from '../../server/modules/models/shelf/model-shelf.ts'
import { writeScriptedGguf } from '../support/scripted-gguf.ts'

export const log = createLog('silent')

/** A folder for models that removes itself. */
export function modelsFolder() {
  const path = mkdtempSync(join(tmpdir(), 'hearth-models-'))
  return { path, file: (name: string) => join(path, name), [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) }
}

/** A folder that holds the scripted model as `house`, and the language model over it, started. */
export async function startedLlm() {
  const folder = modelsFolder()
  writeScriptedGguf(folder.file('house.gguf'))
  const llm = llmOver(folder.path)
  await llm.start()
  return {
    llm,
    folder,
    async [Symbol.asyncDispose]() {
      await llm.stop()
      folder[Symbol.dispose]()
    },
  }
}

export const llmOver = (modelsPath: string): Llm =>
  createLanguageModel({ files: createModelShelf(createModelFiles(modelsPath)).speakers, runtime: { gpu: false, threads: 1 }, log })

export const user = (content: string): LlmMessage => ({ role: 'user', content })
export const assistant = (content: string): LlmMessage => ({ role: 'assistant', content })
export const system = (content: string): LlmMessage => ({ role: 'system', content })

/** A deterministic request with the pieces it streamed. */
export async function ask(llm: Pick<Llm, 'generate'>, said: string | readonly LlmMessage[], more: Partial<GenerateRequest> = {}) {
  const pieces: string[] = []
  const result: GenerateResult = await llm.generate({
    conversationId: 'c1',
    fairKey: 'ada',
    messages: typeof said === 'string' ? [user(said)] : said,
    temperature: 0,
    signal: new AbortController().signal,
    ...more,
    onText: (text) => {
      pieces.push(text)
      more.onText?.(text)
    },
  })
  return { ...result, pieces }
}

/** Waits until `fact` holds, for at most `ms`. */
export async function until(fact: () => boolean | Promise<boolean>, ms = 40_000): Promise<void> {
  const end = performance.now() + ms
  while (!(await fact())) {
    if (performance.now() > end) throw new Error(`still not so after ${ms} ms: ${fact}`)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}
