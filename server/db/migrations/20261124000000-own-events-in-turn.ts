import type { MigrationInterface, QueryRunner } from 'typeorm'

/** The household's own events are read by their id, however many come from other calendars. */
export class OwnEventsInTurn20261124000000 implements MigrationInterface {
  name = 'OwnEventsInTurn20261124000000'

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`DROP INDEX "calendar_event_subscription"`)
    await runner.query(`CREATE INDEX "calendar_event_owner" ON "calendar_event" ("subscriptionId", "id")`)
  }

  async down(): Promise<void> {
    throw new Error('Migrations only go forward; restore the backup made before the upgrade instead')
  }
}
