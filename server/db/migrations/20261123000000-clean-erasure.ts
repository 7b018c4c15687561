import type { MigrationInterface, QueryRunner } from 'typeorm'

const INDICES = [
  'CREATE INDEX "memory_chunk_superseded" ON "memory_chunk" ("supersededById") WHERE "supersededById" IS NOT NULL',
  'CREATE INDEX "action_run_person" ON "action_run" ("personId", "startedAt", "id")',
]

/** What is erased goes from the full-text indices at once, not with their next merge; what was erased before goes now. */
const SECURE = ['memory_entry_search', 'memory_chunk_search', 'message_search'].flatMap((name) => [
  `INSERT INTO "${name}"("${name}", "rank") VALUES ('secure-delete', 1)`,
  `INSERT INTO "${name}"("${name}") VALUES ('optimize')`,
])

/** The ways by which the words of a person who was erased are found, and taken out of the full-text indices too. */
export class CleanErasure20261123000000 implements MigrationInterface {
  name = 'CleanErasure20261123000000'

  async up(runner: QueryRunner): Promise<void> {
    for (const sql of [...INDICES, ...SECURE]) await runner.query(sql)
  }

  async down(): Promise<void> {
    throw new Error('Migrations only go forward; restore the backup made before the upgrade instead')
  }
}
