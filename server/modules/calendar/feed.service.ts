import { randomUUID } from 'node:crypto'
import type { Database } from '../../db/database.ts'
import { randomToken, sameSecret, sha256 } from '../../kit/crypto.ts'
import { FeedTable } from './calendar.table.ts'

export interface FeedDeps {
  db: Database
  /** Where others reach this server, best first. */
  addresses(): string[]
}

export type FeedService = ReturnType<typeof createFeedService>

/** The one address at which other calendars read this one. Only a hash of its key is kept. */
export function createFeedService({ db, addresses }: FeedDeps) {
  return {
    /** A fresh address, told this once; the one before ends. */
    async renew(): Promise<{ url: string }> {
      const key = randomToken()
      await db.write((tx) => {
        tx.run('DELETE FROM "calendar_feed"')
        tx.insert(FeedTable, { id: randomUUID(), keyHash: sha256(key), createdAt: new Date().toISOString() })
      })
      return { url: `${addresses()[0] ?? ''}/api/calendar.ics?key=${key}` }
    },

    async end(): Promise<void> {
      await db.write((tx) => tx.run('DELETE FROM "calendar_feed"'))
    },

    isKey(key: string): boolean {
      const feed = db.find(FeedTable, {}, { limit: 1 })[0]
      return feed !== undefined && sameSecret(sha256(key), feed.keyHash)
    },
  }
}
