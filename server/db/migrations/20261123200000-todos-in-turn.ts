import type { MigrationInterface, QueryRunner } from 'typeorm'

/** All to-dos of a list are read in the order in which they were added, and one that was opened again is known by when it had been completed. */
export class TodosInTurn20261123200000 implements MigrationInterface {
  name = 'TodosInTurn20261123200000'

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`ALTER TABLE "todo" ADD COLUMN "wasCompletedAt" text`)
    await runner.query(`CREATE INDEX "todo_added" ON "todo" ("listKey")`)
  }

  async down(): Promise<void> {
    throw new Error('Migrations only go forward; restore the backup made before the upgrade instead')
  }
}
