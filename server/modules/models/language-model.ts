import { basename } from 'node:path'
import { AppError } from '../../kit/errors.ts'
import type { Logger } from '../../kit/log.ts'
import { createGenerationQueue } from './generation-queue.ts'
import { modelUnavailable } from './llama/llama-reply.ts'
import { createLlamaRunner, type LlamaRuntime } from './llama/llama-runner.ts'
import { type Engine, type EngineState, type GenerateResult, type Llm, type LlmChoice, NO_MODEL } from './llm.ts'
import { SHAPE } from './memory-need.ts'
import type { LlmStatus } from './models.contract.ts'
import { createOpenAiHost } from './openai-host/openai-host.ts'
import type { ModelFile, ModelFiles } from './shelf/model-files.ts'

interface LanguageModelDeps {
  /** Those that can speak. */
  files: ModelFiles
  runtime: LlamaRuntime
  log: Logger
}

/** The language model with what it takes to put it through its paces. */
export interface LanguageModel extends Llm {
  /** What serves at the moment; `path` is that of its file, null where another host replies. Null where nothing does. */
  active(): (EngineState & { path: string | null }) | null
  /** Resolves when what was chosen is loaded or has failed, or the signal aborts. */
  settled(signal: AbortSignal): Promise<void>
  /** Lets go of the file at `path` while `work` is done, and then looks anew for what serves. */
  without(path: string, work: () => Promise<void>): Promise<void>
}

/** Replies generated at once; further ones wait. */
const SLOTS = SHAPE.chat.slots
const MAY_WAIT = 32
/** A file that did not load is tried again when it has changed, no more often than this: it may still be on its way here. */
const TRY_AGAIN_MS = 5_000
const NOTHING_CHOSEN: LlmChoice = { model: null, baseUrl: null, apiKey: null }

interface Active {
  engine: Engine
  /** Null where another host replies. */
  file: ModelFile | null
  since: number
}

const noModel = () => new AppError(503, 'no_model', 'No language model is set up.')
const absent = (model: string) => `There is no model called ${basename(model)}.`
const sameChoice = (a: LlmChoice, b: LlmChoice) => a.model === b.model && a.baseUrl === b.baseUrl && a.apiKey === b.apiKey

/** Puts the chosen engine behind one queue and follows what happens in the models folder. */
export function createLanguageModel({ files, runtime, log }: LanguageModelDeps): LanguageModel {
  const queue = createGenerationQueue({ atOnce: SLOTS, mayWait: MAY_WAIT })
  let choice = NOTHING_CHOSEN
  let started = false
  let active: Active | null = null
  /** Switching is done one after another. */
  let switching: Promise<void> = Promise.resolve()

  /** Of the files or of the host; null where the host or the folder is to say. */
  const chosenName = () => (choice.model === NO_MODEL ? null : choice.model)
  const chosenFile = async () => {
    if (choice.model === NO_MODEL) return undefined
    return choice.model === null ? (choice.baseUrl ? undefined : (await files.list())[0]) : files.find(choice.model)
  }

  const engineFor = async (): Promise<Omit<Active, 'since'> | null> => {
    const file = await chosenFile()
    if (file) return { file, engine: createLlamaRunner({ file, runtime, slots: SLOTS, log }) }
    const { baseUrl, apiKey } = choice
    return baseUrl ? { file: null, engine: createOpenAiHost({ baseUrl, apiKey, model: chosenName(), log }) } : null
  }

  const replace = async () => {
    await active?.engine.stop()
    active = null
    if (!started) return
    const next = await engineFor()
    if (!next) return
    await next.engine.start()
    active = { ...next, since: performance.now() }
  }

  const inTurn = (work: () => Promise<void>) => {
    const done = switching.then(work)
    // whoever asked for it hears of a failure; the next switch does not depend on it
    switching = done.then(undefined, () => undefined)
    return done
  }

  /** Looks again where there is no model, or one that did not load and has changed since. */
  const refresh = () =>
    inTurn(async () => {
      if (!started) return
      if (!active) return replace()
      if (!active.file || active.engine.state().status !== 'error' || performance.now() - active.since < TRY_AGAIN_MS) return
      const now = await chosenFile()
      if (now?.path !== active.file.path || now.version !== active.file.version) await replace()
    })

  const statusOf = (state: EngineState, others: readonly string[]): LlmStatus => ({
    status: state.status,
    models: [...new Set([...state.models, ...others])],
    ...(state.detail && { detail: state.detail }),
  })

  return {
    async status() {
      await refresh()
      const names = (await files.list()).filter(({ isBroken }) => !isBroken).map(({ name }) => name)
      const others = active?.engine.state().status === 'error' ? names.filter((name) => name !== active?.file?.name) : names
      if (active) return statusOf(active.engine.state(), others)
      const name = chosenName()
      return name ? { status: 'error', models: names, detail: absent(name) } : { status: 'no_model', models: names }
    },

    async generate(request) {
      try {
        return await queue.run(request.fairKey, request.signal, async () => {
          await refresh()
          if (active) return active.engine.generate(request)
          if (!started) throw modelUnavailable('The language model is switched off.')
          const name = chosenName()
          throw name ? modelUnavailable(absent(name)) : noModel()
        })
      } catch (error) {
        if (!request.signal.aborted || error !== request.signal.reason) throw error
        const usage = { promptTokens: 0, evaluatedTokens: 0, replyTokens: 0 }
        return { text: '', stopReason: 'aborted', model: '', usage } satisfies GenerateResult
      }
    },

    choose: (next) =>
      inTurn(async () => {
        const unchanged = sameChoice(choice, next) && active !== null && active.engine.state().status !== 'error'
        choice = next
        if (!unchanged) await replace()
      }),

    active: () => active && { ...active.engine.state(), path: active.file?.path ?? null },

    async settled(signal) {
      await switching
      await active?.engine.settled(signal)
      // it may have been stopped for another
      await switching
    },

    without: (path, work) =>
      inTurn(async () => {
        const inUse = active?.file?.path === path
        if (inUse) {
          await active?.engine.stop()
          active = null
        }
        try {
          await work()
        } finally {
          if (inUse) await replace()
        }
      }),

    start: () =>
      inTurn(async () => {
        if (started) return
        started = true
        await replace()
      }),

    stop: () =>
      inTurn(async () => {
        started = false
        await replace()
      }),
  }
}
