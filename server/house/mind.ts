import { join } from 'node:path'
import type { Config } from '../config.ts'
import type { Database } from '../db/database.ts'
import type { ActionRegistry } from '../kit/actions.ts'
import type { EventBus } from '../kit/events.ts'
import type { GuardedFetch } from '../kit/guarded-fetch.ts'
import type { Logger } from '../kit/log.ts'
import type { Module } from '../kit/module.ts'
import { createActions } from '../modules/actions/actions.module.ts'
import { eraseRunsOf } from '../modules/actions/erase-runs.ts'
import { httpRequest } from '../modules/actions/http-request.ts'
import { createAnswering } from '../modules/chat/answering.ts'
import { createChat } from '../modules/chat/chat.module.ts'
import { createConversationsService } from '../modules/chat/conversations.service.ts'
import { createDecisions } from '../modules/chat/decisions.ts'
import { createEraseConversations } from '../modules/chat/erase-conversations.ts'
import { createRepliesService } from '../modules/chat/replies.service.ts'
import { createTools } from '../modules/chat/tools.ts'
import type { HouseholdService } from '../modules/household/household.service.ts'
import { createLearning } from '../modules/learning/learning.module.ts'
import { createLearningService } from '../modules/learning/learning.service.ts'
import { learningMemory } from '../modules/learning/learning-memory.ts'
import { createMcp } from '../modules/mcp/mcp.module.ts'
import { createMemory } from '../modules/memory/memory.module.ts'
import { createDefaultEmbedder } from '../modules/memory/ranking/default-embedder.ts'
import { createModels } from '../modules/models/models.module.ts'
import { createOpenAi } from '../modules/openai/openai.module.ts'
import type { SettingsService } from '../modules/settings/settings.service.ts'
import type { TimersService } from '../modules/timers/timers.service.ts'
import type { TodosService } from '../modules/todos/todos.service.ts'
import { createGrammarReplies } from '../modules/understanding/grammar-replies.ts'
import { createHouseNames } from '../modules/understanding/house-names.ts'
import { languagesIn } from '../modules/understanding/language.ts'
import { createUnderstanding } from '../modules/understanding/understanding.ts'
import type { Secrets } from '../secrets.ts'

interface MindDeps {
  config: Config
  secrets: Secrets
  db: Database
  events: EventBus
  actions: ActionRegistry
  household: HouseholdService
  settings: SettingsService
  todos: Pick<TodosService, 'lists'>
  timers: Pick<TimersService, 'list'>
  /** Fetches from the internet alone. */
  guardedFetch: GuardedFetch
  resourcesPath: string
  version: string
  log: Logger
  onWriteFailed(error: unknown): void
}

/** What thinks, remembers and acts: models, memory, chat, actions, and the programs that speak with them. */
export function createMind({
  config,
  secrets,
  db,
  events,
  actions,
  household,
  settings,
  todos,
  timers,
  resourcesPath,
  log,
  ...deps
}: MindDeps) {
  const { env } = config
  const gpu = env.SERVICE_LLM_GPU === 'off' ? false : 'auto'
  const defaultEmbedder = createDefaultEmbedder(resourcesPath)
  const models = createModels({
    modelsPath: join(config.dataPath, 'models'),
    cataloguePath: join(resourcesPath, 'model-catalogue.json'),
    runtime: { gpu, ...(env.SERVICE_LLM_THREADS && { threads: env.SERVICE_LLM_THREADS }) },
    settings,
    apiKey: () => secrets.get('SERVICE_LLM_API_KEY') ?? null,
    builtInEmbedder: defaultEmbedder,
    db,
    events,
    log,
  })
  const memory = createMemory({
    db,
    events,
    household,
    dataPath: config.dataPath,
    resourcesPath,
    defaultEmbedder,
    embedders: models.embedders,
    log,
  })
  const conversations = createConversationsService({ db })
  const understanding = createUnderstanding({ languages: languagesIn(join(resourcesPath, 'understanding')) })
  const grammar = createGrammarReplies({
    understanding,
    actions,
    household,
    names: createHouseNames({
      household,
      lists: () => todos.lists().map(({ name }) => name),
      timers: () => timers.list().flatMap(({ name }) => name ?? []),
    }),
    describeSource: async (chunkId, { caller }) => memory.chunks.get(caller, chunkId),
  })
  const tools = createTools({
    actions,
    embedder: defaultEmbedder,
    wordsFor: (action) => understanding.actionWords(household.get().household.locale).get(action) ?? [],
    onFault: (err) => log.warn({ err }, 'tools are chosen by their words alone'),
  })
  const decisions = createDecisions({ db, tools })
  const answering = createAnswering({
    llm: models.llm,
    grammar,
    recollection: memory.recollection,
    texts: memory.rawFiles.told,
    household,
    tools,
    decisions,
    log,
  })
  const learning = createLearningService({
    db,
    llm: models.llm,
    household,
    memory: learningMemory(memory.chunks, memory.recollection),
    isBusy: () => replies.isBusy(),
    log,
  })
  const replies = createRepliesService({
    db,
    conversations,
    answering,
    learnFrom: learning.learnFrom,
    isActing: decisions.isActing,
    onUntold: (err) => log.warn({ err }, 'what came of a decision could not be told'),
    events,
  })
  memory.erasure.join((personId) => eraseRunsOf(db, personId))
  memory.erasure.join(createEraseConversations({ db, stopReply: replies.stopReply }))

  const modules: Module[] = [
    models,
    memory,
    createMcp({ db, actions, events, secretsKey: () => secrets.get('SERVICE_SECRETS_KEY'), version: deps.version, log }),
    createOpenAi({ llm: models.llm, embedders: models.embedders, writtenAt: models.writtenAt, log }),
    createActions({ db, actions, own: [httpRequest(deps.guardedFetch)], onPruneFailed: deps.onWriteFailed }),
    createChat({ conversations, replies, decisions }),
    createLearning({ learning }),
  ]
  return { modules }
}
