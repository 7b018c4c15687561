import type { Database } from '../../db/database.ts'
import type { EventBus } from '../../kit/events.ts'
import type { Logger } from '../../kit/log.ts'
import type { Module } from '../../kit/module.ts'
import { routes } from '../../kit/routes.ts'
import type { Embedder } from '../memory/embedder.ts'
import type { SettingsService } from '../settings/settings.service.ts'
import { type CatalogueEntry, readCatalogue } from './catalogue.ts'
import { createDownloadsService } from './downloads/downloads.service.ts'
import { createHub } from './downloads/hub.ts'
import { createEmbedders, type Embedders } from './embedding/embedders.ts'
import { createLanguageModel } from './language-model.ts'
import type { LlamaRuntime } from './llama/llama-runner.ts'
import type { Llm } from './llm.ts'
import { createMachine } from './machine.ts'
import { modelDownloaded, modelsChanged, modelsContract } from './models.contract.ts'
import { createModelsService } from './models.service.ts'
import { importModel } from './shelf/import-model.ts'
import { createModelFiles } from './shelf/model-files.ts'
import { createModelShelf } from './shelf/model-shelf.ts'
import { createFilePlacer } from './shelf/place-file.ts'

export interface ModelsDeps {
  /** Folder of GGUF files; it need not exist. */
  modelsPath: string
  cataloguePath: string
  runtime: LlamaRuntime
  settings: Pick<SettingsService, 'values' | 'get' | 'update' | 'onChange'>
  /** Of an OpenAI-compatible host. */
  apiKey(): string | null
  /** Makes the vectors where no embedding model is chosen. */
  builtInEmbedder: Embedder
  db: Database
  events: EventBus
  log: Logger
}

const DEFAULT_HUB = 'https://huggingface.co'

/** The language model, the embedders, and what the API tells and does with the files of both. */
export function createModels(
  deps: ModelsDeps,
): Module & { llm: Llm; embedders: Embedders; writtenAt(name: string): Promise<number | null> } {
  const { modelsPath, runtime, settings, db, events, log } = deps
  let catalogue: CatalogueEntry[] = []
  const shelf = createModelShelf(createModelFiles(modelsPath))
  const llm = createLanguageModel({ files: shelf.speakers, runtime, log })
  const embedders = createEmbedders({ fallback: deps.builtInEmbedder, shelf, runtime, log })
  const onChanged = () => events.publish(modelsChanged, {})
  const hubAddress = () => settings.values().SERVICE_MODEL_HUB_URL ?? DEFAULT_HUB
  const hub = createHub(hubAddress)
  const place = createFilePlacer()
  const downloads = createDownloadsService({
    db,
    modelsPath,
    hub,
    place,
    publish: (download) => events.publish(modelDownloaded, download),
    log,
  })
  const models = createModelsService({
    shelf,
    llm,
    embedders,
    settings,
    choice() {
      const { SERVICE_LLM_MODEL, SERVICE_LLM_BASE_URL } = settings.values()
      return { model: SERVICE_LLM_MODEL, baseUrl: SERVICE_LLM_BASE_URL, apiKey: deps.apiKey() }
    },
    machine: createMachine(runtime.gpu, log),
    downloads,
    hub,
    hubAddress,
    catalogue: () => catalogue,
    onChanged,
  })
  embedders.onChange(onChanged)
  settings.onChange(() => void models.settle().catch((err: unknown) => log.error({ err }, 'the model could not be changed')))

  return {
    name: 'models',
    llm,
    embedders,
    /** When a model's file was written, in milliseconds; null for one of a host. */
    writtenAt: async (name) => (await shelf.speakers.find(name))?.writtenAt ?? null,
    routes: [
      routes(modelsContract, {
        llm: () => llm.status(),
        list: () => models.list(),
        overview: () => models.overview(),
        download: ({ body }) => models.download(body),
        pauseDownload: ({ params }) => downloads.pause(params.id),
        resumeDownload: ({ params }) => downloads.resume(params.id),
        cancelDownload: ({ params }) => downloads.cancel(params.id),
        async import({ files }) {
          const name = await importModel(files, modelsPath, place)
          onChanged()
          return models.one(name)
        },
        load: ({ params }) => models.load(params.name),
        unload: ({ params }) => models.unload(params.name),
        remove: ({ params }) => models.remove(params.name),
      }),
    ],
    async start() {
      catalogue = await readCatalogue(deps.cataloguePath)
      await models.settle()
      await llm.start()
      await downloads.start()
    },
    async stop() {
      await downloads.stop()
      await embedders.stop()
      await llm.stop()
    },
  }
}
