import { notFound } from '../../kit/errors.ts'
import type { Logger } from '../../kit/log.ts'
import type { Module } from '../../kit/module.ts'
import { routes } from '../../kit/routes.ts'
import { createLanguageModel } from './language-model.ts'
import type { LlamaRuntime } from './llama-runner.ts'
import type { Llm } from './llm.ts'
import { createModelFiles } from './model-files.ts'
import { modelsContract } from './models.contract.ts'

interface ModelsDeps {
  /** Folder of GGUF files; it need not exist. */
  modelsPath: string
  runtime: LlamaRuntime
  log: Logger
}

const notYet = () => {
  throw notFound()
}

/** The language model and what the API tells of it. Until `llm.choose` is called the first file of the folder serves. */
export function createModels({ modelsPath, runtime, log }: ModelsDeps): Module & { llm: Llm } {
  const llm = createLanguageModel({ files: createModelFiles(modelsPath), runtime, log })
  return {
    name: 'models',
    llm,
    routes: [
      routes(modelsContract, {
        llm: () => llm.status(),
        list: notYet,
        download: notYet,
        pauseDownload: notYet,
        resumeDownload: notYet,
        cancelDownload: notYet,
        import: notYet,
        load: notYet,
        unload: notYet,
        remove: notYet,
      }),
    ],
    start: () => llm.start(),
    stop: () => llm.stop(),
  }
}
