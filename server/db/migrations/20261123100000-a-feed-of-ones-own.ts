import type { MigrationInterface, QueryRunner } from 'typeorm'

/** The one address at which calendars were read becomes the owner's; from now on everybody has their own. */
export class AFeedOfOnesOwn20261123100000 implements MigrationInterface {
  name = 'AFeedOfOnesOwn20261123100000'

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`DELETE FROM "calendar_feed" WHERE "id" NOT IN (SELECT "id" FROM "calendar_feed" ORDER BY "createdAt" DESC LIMIT 1)`)
    await runner.query(`UPDATE "calendar_feed" SET "id" = (SELECT "id" FROM "person" WHERE "role" = 'owner' LIMIT 1)
      WHERE EXISTS (SELECT 1 FROM "person" WHERE "role" = 'owner')`)
  }

  async down(): Promise<void> {
    throw new Error('Migrations only go forward; restore the backup made before the upgrade instead')
  }
}
