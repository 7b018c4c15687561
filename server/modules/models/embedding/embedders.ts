import type { Logger } from '../../../kit/log.ts'
import type { Embedder } from '../../memory/embedder.ts'
import type { LlamaRuntime } from '../llama/llama-runner.ts'
import { NO_MODEL } from '../llm.ts'
import type { ModelShelf, ShelvedModel } from '../shelf/model-shelf.ts'
import { createGgufEmbedder, type GgufEmbedder } from './gguf-embedder.ts'

/** Which embedder serves, and word of every change of it. */
export interface Embedders {
  current(): Embedder
  /** Called after each change, with the new one; answers how to stop listening. */
  onChange(listener: (embedder: Embedder) => void): () => void
}

export interface EmbeddingState {
  /** Of the model that was chosen; null where that is the built-in one, or its file is not there. */
  path: string | null
  status: 'active' | 'loading' | 'error'
  detail?: string
}

/** The embedders with what it takes to change them. */
export interface EmbedderChoice extends Embedders {
  /** A name under the models folder or a path; null for the built-in one, which also serves where the chosen one cannot. */
  choose(model: string | null): Promise<void>
  /** Loads a model without choosing it yet, so that a later `choose` finds it loaded. Rejects with 503 and the reason. */
  trial(model: ShelvedModel): Promise<void>
  /** Lets go of the file at `path` for good. */
  release(path: string): Promise<void>
  state(): EmbeddingState
  /** Whether the built-in one serves, chosen or for want of the one that is. */
  isBuiltIn(): boolean
  stop(): Promise<void>
}

interface EmbeddersDeps {
  /** Built in, serves where no model is chosen. */
  fallback: Embedder
  shelf: ModelShelf
  runtime: LlamaRuntime
  log: Logger
}

interface Chosen {
  path: string
  version: string
  embedder: GgufEmbedder
}

/** Follows the choice of an embedding model. */
export function createEmbedders({ fallback, shelf, runtime, log }: EmbeddersDeps): EmbedderChoice {
  const listeners = new Set<(embedder: Embedder) => void>()
  let chosen: Chosen | null = null
  let tried: Chosen | null = null
  let current = fallback
  /** Why the built-in one serves although another was chosen. */
  let missing: string | null = null
  let switching: Promise<unknown> = Promise.resolve()

  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const done = switching.then(work)
    // whoever asked for it hears of a failure; the next switch does not depend on it
    switching = done.then(undefined, () => undefined)
    return done
  }

  const serve = (embedder: Embedder) => {
    if (embedder === current) return
    current = embedder
    for (const listener of listeners) listener(embedder)
  }

  const make = (model: ShelvedModel): Chosen => {
    const embedder: GgufEmbedder = createGgufEmbedder({
      model,
      runtime,
      log,
      onFault(reason) {
        log.error({ model: model.file.name }, reason)
        if (current === embedder) serve(fallback)
      },
    })
    return { path: model.file.path, version: model.file.version, embedder }
  }

  const isSame = (one: Chosen | null, { file }: ShelvedModel) =>
    one?.path === file.path && one.version === file.version && one.embedder.state().status !== 'error'

  const drop = async (one: Chosen | null) => {
    if (one && one !== chosen) await one.embedder.stop()
  }

  const choose = async (model: string | null) => {
    const before = chosen
    const found = model === null || model === NO_MODEL ? undefined : await shelf.find(model)
    missing = model !== null && model !== NO_MODEL && !found ? 'The chosen embedding model is not there.' : null
    if (missing) log.warn({ model }, missing)
    if (found && isSame(chosen, found)) return
    const own = found && isSame(tried, found) ? tried : found ? make(found) : null
    if (own === tried) tried = null
    chosen = own
    serve(own?.embedder ?? fallback)
    await drop(before)
  }

  return {
    current: () => current,
    isBuiltIn: () => current === fallback,
    onChange(listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    choose: (model) => inTurn(() => choose(model)),
    trial: (model) =>
      inTurn(async () => {
        if (isSame(chosen, model)) return chosen?.embedder.ready()
        await drop(tried)
        const own = make(model)
        tried = own
        try {
          await own.embedder.ready()
        } catch (error) {
          tried = null
          await own.embedder.stop()
          throw error
        }
      }),
    release: (path) =>
      inTurn(async () => {
        const held = [chosen, tried].filter((one) => one?.path === path)
        if (chosen?.path === path) {
          chosen = null
          serve(fallback)
        }
        if (tried?.path === path) tried = null
        for (const one of held) await one?.embedder.stop()
      }),
    state() {
      if (missing) return { path: null, status: 'error', detail: missing }
      if (!chosen) return { path: null, status: 'active' }
      const { status, detail } = chosen.embedder.state()
      return {
        path: chosen.path,
        status: status === 'error' || status === 'loading' ? status : 'active',
        ...(detail && { detail }),
      }
    },
    stop: () =>
      inTurn(async () => {
        const all = [chosen, tried]
        chosen = null
        tried = null
        for (const one of all) await one?.embedder.stop()
      }),
  }
}
