import type { Database } from '../../db/database.ts'
import type { Action, ActionRegistry } from '../../kit/actions.ts'
import type { Module } from '../../kit/module.ts'
import { routes } from '../../kit/routes.ts'
import { pruneRuns } from './action-retention.ts'
import { actionsContract } from './actions.contract.ts'
import { createActionsService } from './actions.service.ts'

interface ActionsDeps {
  db: Database
  actions: ActionRegistry
  /** Actions that belong to no room of the house. */
  own: Action[]
  onPruneFailed(error: unknown): void
}

const PRUNE_MS = 3_600_000

/** The registry as the API shows it: what can be done, doing it, and what was done. */
export function createActions({ db, actions, own, onPruneFailed }: ActionsDeps): Module {
  const service = createActionsService({ db, actions })
  const prune = () => void pruneRuns(db).catch(onPruneFailed)
  let timer: NodeJS.Timeout | undefined

  return {
    name: 'actions',
    actions: own,
    routes: [
      routes(actionsContract, {
        list: (_input, { caller }) => service.list(caller),
        runs: ({ query }) => service.runs(query),
        execute: ({ params, body }, call) => actions.run(params.name, body, { caller: call.caller, origin: 'api', signal: call.signal }),
      }),
    ],
    async start() {
      prune()
      timer ??= setInterval(prune, PRUNE_MS).unref()
    },
    async stop() {
      clearInterval(timer)
      timer = undefined
    },
  }
}
