import { setTimeout as wait } from 'node:timers/promises'
import type BetterSqlite3 from 'better-sqlite3'
import { isBusy } from './failures.ts'

/** Runs `work` in a transaction shared with the other writes of the moment; resolves once it is on the disk. */
export type Commit = <T>(work: () => T) => Promise<T>

interface Job {
  work(): unknown
  resolve(value: unknown): void
  reject(error: unknown): void
}

/** A batch ends after this long, so that the loop is free again for everyone else. */
const BATCH_MS = 8
const BUSY_WAIT_MS = 10
const BUSY_LIMIT_MS = 5_000

type Outcome = { job: Job; value: unknown } | { job: Job; error: unknown }

/**
 * Collects the writes of one turn of the loop into one transaction, each in its own savepoint, so that many wait for one
 * fsync. A write that throws undoes itself alone; when the commit fails, every write of the batch fails.
 */
export function createGroupCommit(
  db: BetterSqlite3.Database,
  onCommitFailed: (error: unknown) => void,
): { commit: Commit; idle(): Promise<void> } {
  const begin = db.prepare('BEGIN IMMEDIATE')
  const end = db.prepare('COMMIT')
  const rollback = db.prepare('ROLLBACK')
  const savepoint = db.prepare('SAVEPOINT one')
  const release = db.prepare('RELEASE one')
  const undo = db.prepare('ROLLBACK TO one')
  const queue: Job[] = []
  let running: Promise<void> | null = null

  /** Another process may hold the write lock for a moment; waiting for it must not block the loop. */
  async function beginWhenFree(): Promise<void> {
    const deadline = performance.now() + BUSY_LIMIT_MS
    for (;;) {
      try {
        begin.run()
        return
      } catch (error) {
        if (!isBusy(error) || performance.now() > deadline) throw error
        await wait(BUSY_WAIT_MS)
      }
    }
  }

  /** A throw of the work is its outcome; a throw of the statements around it fails the batch. */
  function attempt(job: Job): Outcome {
    let outcome: Outcome
    savepoint.run()
    try {
      outcome = { job, value: job.work() }
    } catch (error) {
      outcome = { job, error }
      if (db.inTransaction) undo.run()
    }
    if (db.inTransaction) release.run()
    return outcome
  }

  /** Works the queue off into `taken` until the time is up. */
  function runBatch(taken: Job[]): Outcome[] {
    const started = performance.now()
    const outcomes: Outcome[] = []
    while (queue.length > 0 && performance.now() - started < BATCH_MS) {
      const job = queue.shift() as Job
      taken.push(job)
      const outcome = attempt(job)
      outcomes.push(outcome)
      // A full disk ends the transaction under us: all that was done in it is gone.
      if (!db.inTransaction) throw 'error' in outcome ? outcome.error : new Error('The transaction ended by itself')
    }
    return outcomes
  }

  /** Where not even the beginning succeeded, whoever waits is refused. */
  function failBatch(error: unknown, taken: Job[]): void {
    const failures = [error]
    try {
      if (db.inTransaction) rollback.run()
    } catch (further) {
      failures.push(further) // the next batch cannot begin then, and tries this again
    }
    for (const job of taken.length > 0 ? taken : queue.splice(0)) job.reject(error)
    for (const failure of failures) onCommitFailed(failure)
  }

  async function drain(): Promise<void> {
    while (queue.length > 0) {
      const taken: Job[] = []
      try {
        await beginWhenFree()
        const outcomes = runBatch(taken)
        end.run()
        for (const outcome of outcomes) {
          if ('error' in outcome) outcome.job.reject(outcome.error)
          else outcome.job.resolve(outcome.value)
        }
      } catch (error) {
        failBatch(error, taken)
      }
      await new Promise<void>((resolve) => setImmediate(resolve))
    }
  }

  return {
    commit: (work) =>
      new Promise((resolve, reject) => {
        queue.push({ work, resolve: resolve as (value: unknown) => void, reject })
        running ??= new Promise<void>((done) => setImmediate(done)).then(drain).finally(() => {
          running = null
        })
      }),
    async idle() {
      while (running) await running
    },
  }
}
