import { rm } from 'node:fs/promises'
import type { z } from 'zod'
import { AppError, conflict, notFound } from '../../kit/errors.ts'
import type { SettingsService } from '../settings/settings.service.ts'
import { type CatalogueEntry, hubPath } from './catalogue.ts'
import type { DownloadsService } from './downloads/downloads.service.ts'
import { type Hub, HubFault, type HubFile } from './downloads/hub.ts'
import type { EmbedderChoice } from './embedding/embedders.ts'
import type { LanguageModel } from './language-model.ts'
import { type LlmChoice, NO_MODEL } from './llm.ts'
import { fitOf, type Machine, type MachineFacts, recommendedOf } from './machine.ts'
import { contextBytesPerToken, memoryNeed } from './memory-need.ts'
import type { CatalogueModel, InstalledModel, ModelDownload, ModelKind, Models, modelsContract } from './models.contract.ts'
import { modelNameOf } from './shelf/model-name.ts'
import { type ModelShelf, partsOf, type ShelvedModel } from './shelf/model-shelf.ts'
import { modelExists } from './shelf/place-file.ts'

export interface ModelsServiceDeps {
  shelf: ModelShelf
  llm: LanguageModel
  embedders: EmbedderChoice
  settings: Pick<SettingsService, 'values' | 'get' | 'update'>
  /** What the settings say of the language model, with its key. */
  choice(): LlmChoice
  machine: Machine
  downloads: DownloadsService
  hub: Hub
  hubAddress(): string
  catalogue(): readonly CatalogueEntry[]
  /** Called when another model serves, or one is gone, or is being loaded. */
  onChanged(): void
}

export type ModelsService = ReturnType<typeof createModelsService>

/** A file that takes longer to load than this is given up. */
const LOAD_MS = 600_000
const LOOK_MS = 8_000
const SETTING = { chat: 'SERVICE_LLM_MODEL', embedding: 'SERVICE_EMBEDDING_MODEL' } as const
/** What leaves each kind without a file: no language model at all, the built-in embedding. */
const NONE = { chat: NO_MODEL, embedding: null } as const

const unusable = (reason: string) => new AppError(422, 'model_unusable', reason)
const needOf = ({ kind, sizeBytes, header }: ShelvedModel) =>
  memoryNeed(kind, {
    sizeBytes,
    contextBytesPerToken: header ? contextBytesPerToken(header) : 0,
    contextTokens: header?.contextTokens ?? null,
  })

/** The models of this machine: what there is, what could be had, and which of them serve. */
export function createModelsService({ shelf, llm, embedders, settings, choice, machine, downloads, hub, ...deps }: ModelsServiceDeps) {
  /** Models are loaded one after another; whoever unloads or deletes one does not wait for that, but ends it. */
  let loading: Promise<unknown> = Promise.resolve()
  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const done = loading.then(work)
    loading = done.catch(() => undefined) // whoever asked hears of it
    return done
  }

  const modelNamed = async (name: string): Promise<ShelvedModel> => {
    const found = (await shelf.list()).find(({ file }) => file.name === name)
    if (!found) throw notFound('This model')
    return found
  }

  const stateOf = ({ file, kind, fault }: ShelvedModel): Pick<InstalledModel, 'status' | 'detail'> => {
    if (fault !== null) return { status: 'error', detail: fault }
    if (kind === 'embedding') {
      const { path, status, detail } = embedders.state()
      return path === file.path ? { status, ...(detail && { detail }) } : { status: 'idle' }
    }
    const active = llm.active()
    if (active?.path !== file.path) return { status: 'idle' }
    return { status: active.status === 'ok' ? 'active' : active.status, ...(active.detail && { detail: active.detail }) }
  }

  const described = (model: ShelvedModel, facts: MachineFacts): InstalledModel => {
    const need = needOf(model)
    const state = stateOf(model)
    const freed = state.status === 'active' || state.status === 'loading' ? need.usual : 0
    return {
      name: model.file.name,
      kind: model.kind,
      sizeBytes: model.sizeBytes,
      architecture: model.header?.architecture ?? null,
      contextTokens: model.header?.contextTokens ?? null,
      memoryBytes: model.header ? need.usual : null,
      fit: model.header && fitOf(need, facts, freed),
      ...state,
    }
  }

  const describedNow = async (name: string) => described(await modelNamed(name), await machine.facts())

  /** Those of the catalogue, given what the model that serves would give back. */
  const offered = (facts: MachineFacts, installed: readonly InstalledModel[]): CatalogueModel[] => {
    const names = new Set(installed.map(({ name }) => name.toLowerCase()))
    const freed = (kind: ModelKind) => installed.find((one) => one.kind === kind && one.status === 'active')?.memoryBytes ?? 0
    const fitted = deps.catalogue().map((entry) => {
      const need = memoryNeed(entry.kind, entry)
      return { ...entry, memoryBytes: need.usual, fit: fitOf(need, facts, freed(entry.kind)) }
    })
    const recommended = recommendedOf(fitted, facts)
    return fitted.map((entry) => ({
      ...entry,
      recommended: recommended.has(entry.id),
      installed: names.has(entry.file.slice(0, -'.gguf'.length).toLowerCase()),
    }))
  }

  const isFixed = (kind: ModelKind) => settings.get().locked.includes(SETTING[kind])

  const checkFree = (kind: ModelKind) => {
    if (isFixed(kind)) throw conflict('setting_locked', `${SETTING[kind]} is set by the environment.`)
  }

  /** Whether the setting names this very file. */
  const isChosen = async ({ file, kind }: ShelvedModel) => {
    const value = settings.values()[SETTING[kind]]
    return value !== null && value !== NO_MODEL && (await shelf.find(value))?.file.path === file.path
  }

  const settle = async () => {
    await llm.choose(choice())
    await embedders.choose(settings.values()[SETTING.embedding])
    deps.onChanged()
    void llm.settled(AbortSignal.timeout(LOAD_MS)).then(deps.onChanged, deps.onChanged)
  }

  const serveChat = async ({ file }: ShelvedModel, value: string) => {
    await llm.choose({ ...choice(), model: value })
    deps.onChanged()
    await llm.settled(AbortSignal.timeout(LOAD_MS))
    const now = llm.active()
    if (now?.path === file.path && now.status === 'ok') return
    await llm.choose(choice())
    if (now?.path !== file.path) throw conflict('conflict', 'Another model was chosen meanwhile.')
    throw unusable(now.detail ?? 'The model takes too long to load.')
  }

  const serveEmbedding = async (model: ShelvedModel) => {
    try {
      await embedders.trial(model)
    } catch (error) {
      throw error instanceof AppError && error.code === 'model_unavailable' ? unusable(error.message) : error
    }
  }

  const load = async (name: string): Promise<InstalledModel> => {
    const model = await modelNamed(name)
    if (model.fault !== null) throw unusable(model.fault)
    const fixed = isFixed(model.kind)
    if (fixed && !(await isChosen(model))) checkFree(model.kind)
    // `none` has a meaning of its own
    const value = name === NO_MODEL ? `${name}.gguf` : name
    const key = SETTING[model.kind]
    if (model.kind === 'chat') await serveChat(model, fixed ? (settings.values()[key] ?? value) : value)
    else await serveEmbedding(model)
    if (!fixed) settings.update({ [key]: value })
    await settle()
    return describedNow(name)
  }

  const unload = async (name: string): Promise<InstalledModel> => {
    const model = await modelNamed(name)
    const serves = model.kind === 'chat' ? llm.active()?.path === model.file.path : embedders.state().path === model.file.path
    if (serves || (await isChosen(model))) {
      checkFree(model.kind)
      settings.update({ [SETTING[model.kind]]: NONE[model.kind] })
      await settle()
    }
    return describedNow(name)
  }

  const remove = async (name: string): Promise<void> => {
    const model = await modelNamed(name)
    const { file, kind } = model
    const chosen = await isChosen(model)
    if (chosen) checkFree(kind)
    const unlink = async () => {
      for (const part of await partsOf(file.path)) await rm(part, { force: true })
    }
    if (kind === 'chat') await llm.without(file.path, unlink)
    else {
      await embedders.release(file.path)
      await unlink().finally(settle)
    }
    if (chosen) settings.update({ [SETTING[kind]]: null })
    await downloads.forget(name)
    await settle()
  }

  /** A hub that cannot be asked now is asked later; one that says no says it at once. */
  const lookedUp = async (path: string): Promise<HubFile> => {
    try {
      return await hub.look(path, AbortSignal.timeout(LOOK_MS))
    } catch (error) {
      if (!(error instanceof HubFault) || error.kind === 'again') return { totalBytes: null, sha256: null }
      if (error.kind === 'absent') throw new AppError(404, 'not_found', error.message)
      if (error.kind === 'too-large') throw new AppError(413, 'too_large', error.message)
      throw new AppError(502, 'upstream_failed', error.message)
    }
  }

  const download = async ({ id, repo, file, sha256 }: z.output<(typeof modelsContract.download)['body']>): Promise<ModelDownload> => {
    const entry = id === undefined ? { repo, file, sizeBytes: null } : deps.catalogue().find((model) => model.id === id)
    // The contract sees to it that without an id both are there.
    if (!entry?.repo || !entry.file) throw notFound('This model')
    const name = modelNameOf(entry.file)
    if ((await shelf.list()).some((model) => model.file.name.toLowerCase() === name.toLowerCase())) throw modelExists(name)
    const path = hubPath(entry.repo, entry.file)
    const sizeBytes = entry.sizeBytes ?? (await lookedUp(path)).totalBytes
    return downloads.add({ name, path, sizeBytes, sha256: sha256 ?? null })
  }

  function host(): Models['host'] {
    const { baseUrl } = choice()
    if (!baseUrl) return null
    const active = llm.active()
    const isInUse = active?.path === null
    return {
      address: URL.parse(baseUrl)?.host ?? baseUrl,
      isInUse,
      model: isInUse ? (active.models[0] ?? null) : null,
      status: isInUse ? active.status : null,
      ...(isInUse && active.detail && { detail: active.detail }),
    }
  }

  async function overview(): Promise<Models> {
    const [facts, models] = await Promise.all([machine.facts(), shelf.list()])
    const installed = models.map((model) => described(model, facts))
    return {
      machine: facts,
      hub: deps.hubAddress(),
      host: host(),
      installed,
      catalogue: offered(facts, installed),
      downloads: downloads.list(),
      embedding: { active: embedders.current().name, builtIn: embedders.isBuiltIn() },
    }
  }

  return {
    list: async (): Promise<InstalledModel[]> => (await overview()).installed,
    overview,
    one: describedNow,
    load: (name: string) => inTurn(() => load(name)),
    unload,
    remove,
    download,
    /** Follows the settings. */
    settle,
  }
}
