import type { MigrationInterface, QueryRunner } from 'typeorm'

const TABLES = `
ALTER TABLE "message" ADD COLUMN "sources" text;

CREATE TABLE "memory_entry" ("seq" integer PRIMARY KEY NOT NULL, "id" text NOT NULL, "category" text NOT NULL, "key" text NOT NULL, "value" text NOT NULL,
  "updatedAt" text NOT NULL);
CREATE UNIQUE INDEX "memory_entry_id" ON "memory_entry" ("id");
CREATE UNIQUE INDEX "memory_entry_key" ON "memory_entry" ("category", "key");
CREATE INDEX "memory_entry_age" ON "memory_entry" ("updatedAt");
CREATE TABLE "memory_chunk" ("seq" integer PRIMARY KEY NOT NULL, "id" text NOT NULL, "householdId" text NOT NULL, "personId" text,
  "source" text NOT NULL, "category" text NOT NULL, "title" text NOT NULL, "content" text NOT NULL, "observedAt" text NOT NULL,
  "pinned" boolean NOT NULL, "promoted" boolean NOT NULL, "embeddingModel" text NOT NULL, "conversationId" text, "messageId" text,
  "supersededById" text, "createdAt" text NOT NULL, "updatedAt" text NOT NULL);
CREATE UNIQUE INDEX "memory_chunk_id" ON "memory_chunk" ("id");
CREATE INDEX "memory_chunk_observed" ON "memory_chunk" ("observedAt");
CREATE INDEX "memory_chunk_person" ON "memory_chunk" ("personId", "observedAt");
CREATE INDEX "memory_chunk_category" ON "memory_chunk" ("category", "observedAt");
CREATE INDEX "memory_chunk_embedding" ON "memory_chunk" ("embeddingModel");
CREATE INDEX "memory_chunk_message" ON "memory_chunk" ("messageId");
CREATE INDEX "memory_chunk_source" ON "memory_chunk" ("source", "observedAt");
CREATE INDEX "memory_chunk_pinned" ON "memory_chunk" ("pinned", "observedAt");
CREATE INDEX "memory_chunk_promoted" ON "memory_chunk" ("promoted", "observedAt");
CREATE TABLE "memory_vector" ("seq" integer NOT NULL, "model" text NOT NULL, "vector" blob NOT NULL,
  CONSTRAINT "memory_vector_fk" FOREIGN KEY ("seq") REFERENCES "memory_chunk" ("seq") ON DELETE CASCADE ON UPDATE NO ACTION, PRIMARY KEY ("seq", "model"));
CREATE TABLE "memory_extraction" ("id" text PRIMARY KEY NOT NULL, "conversationId" text NOT NULL, "personId" text, "tries" integer NOT NULL,
  "createdAt" text NOT NULL);
CREATE INDEX "memory_extraction_age" ON "memory_extraction" ("createdAt");

CREATE TABLE "notification" ("id" text PRIMARY KEY NOT NULL, "seq" integer NOT NULL, "title" text NOT NULL, "body" text NOT NULL,
  "deviceId" text NOT NULL, "level" text NOT NULL, "category" text, "status" text NOT NULL, "data" text NOT NULL, "dedupeKey" text,
  "createdAt" text NOT NULL, "sentAt" text, "deliveredAt" text, "readAt" text, "urgent" boolean NOT NULL, "attemptAt" integer,
  "pushTries" integer NOT NULL, "pushedAt" text);
CREATE UNIQUE INDEX "notification_seq" ON "notification" ("seq");
CREATE INDEX "notification_device" ON "notification" ("deviceId", "seq");
CREATE INDEX "notification_device_status" ON "notification" ("deviceId", "status", "seq");
CREATE INDEX "notification_status" ON "notification" ("status", "seq");
CREATE UNIQUE INDEX "notification_dedupe" ON "notification" ("deviceId", "dedupeKey");
CREATE INDEX "notification_age" ON "notification" ("createdAt");
CREATE INDEX "notification_attempt" ON "notification" ("deviceId", "attemptAt") WHERE "attemptAt" IS NOT NULL;

CREATE TABLE "calendar_subscription" ("id" text PRIMARY KEY NOT NULL, "name" text NOT NULL, "url" text NOT NULL, "refreshedAt" text,
  "error" text, "events" integer NOT NULL, "generation" integer NOT NULL, "digest" text, "etag" text, "lastModified" text,
  "failures" integer NOT NULL, "refreshAt" text NOT NULL, "createdAt" text NOT NULL);
CREATE TABLE "calendar_event" ("id" text PRIMARY KEY NOT NULL, "title" text NOT NULL, "startAt" text NOT NULL, "endAt" text NOT NULL,
  "allDay" boolean NOT NULL, "location" text, "notes" text, "personId" text, "recurrence" text, "timezone" text NOT NULL,
  "excluded" text NOT NULL, "lastEndAt" text, "subscriptionId" text, "generation" integer NOT NULL, "createdAt" text NOT NULL,
  "updatedAt" text NOT NULL);
CREATE INDEX "calendar_event_start" ON "calendar_event" ("startAt");
CREATE INDEX "calendar_event_series" ON "calendar_event" ("startAt") WHERE "recurrence" IS NOT NULL;
CREATE INDEX "calendar_event_subscription" ON "calendar_event" ("subscriptionId");
CREATE TABLE "calendar_feed" ("id" text PRIMARY KEY NOT NULL, "keyHash" text NOT NULL, "createdAt" text NOT NULL);

CREATE TABLE "todo" ("id" text PRIMARY KEY NOT NULL, "title" text NOT NULL, "list" text, "listKey" text NOT NULL, "notes" text,
  "dueAt" text, "remindAt" text, "reminderAt" text, "recurrence" text, "series" text, "nextId" text, "completedAt" text, "personId" text,
  "createdAt" text NOT NULL, "updatedAt" text NOT NULL);
CREATE INDEX "todo_open" ON "todo" ("completedAt", "dueAt", "createdAt");
CREATE INDEX "todo_list" ON "todo" ("listKey", "completedAt", "dueAt", "createdAt");
CREATE INDEX "todo_reminder" ON "todo" ("reminderAt");
CREATE TABLE "timer" ("id" text PRIMARY KEY NOT NULL, "name" text, "kind" text NOT NULL, "durationMs" integer NOT NULL,
  "setMs" integer NOT NULL, "endsAt" text NOT NULL, "pausedAt" text, "rangAt" text, "deviceId" text NOT NULL, "personId" text, "createdAt" text NOT NULL);
CREATE INDEX "timer_next" ON "timer" ("rangAt", "pausedAt", "endsAt");

CREATE TABLE "action_run" ("id" text PRIMARY KEY NOT NULL, "action" text NOT NULL, "params" text NOT NULL, "origin" text NOT NULL,
  "caller" text NOT NULL, "personId" text, "deviceId" text NOT NULL, "conversationId" text, "status" text NOT NULL, "output" text, "error" text,
  "startedAt" text NOT NULL, "durationMs" integer NOT NULL);
CREATE INDEX "action_run_age" ON "action_run" ("startedAt", "id");
CREATE INDEX "action_run_action" ON "action_run" ("action", "startedAt", "id");
CREATE INDEX "action_run_status" ON "action_run" ("status", "startedAt", "id");
CREATE TABLE "mcp_server" ("id" text PRIMARY KEY NOT NULL, "name" text NOT NULL, "url" text NOT NULL, "sealedToken" text,
  "enabled" boolean NOT NULL, "createdAt" text NOT NULL);
CREATE UNIQUE INDEX "mcp_server_name" ON "mcp_server" ("name");
CREATE TABLE "model_download" ("id" text PRIMARY KEY NOT NULL, "name" text NOT NULL, "path" text NOT NULL, "sha256" text,
  "totalBytes" integer, "status" text NOT NULL, "error" text, "createdAt" text NOT NULL)`

const SEARCH = [
  `CREATE VIRTUAL TABLE "memory_entry_search" USING fts5("category", "key", "value", content='memory_entry', content_rowid='seq',
     tokenize='porter unicode61 remove_diacritics 2')`,
  `CREATE TRIGGER "memory_entry_search_insert" AFTER INSERT ON "memory_entry" BEGIN
     INSERT INTO "memory_entry_search"("rowid", "category", "key", "value") VALUES (new."seq", new."category", new."key", new."value"); END`,
  `CREATE TRIGGER "memory_entry_search_update" AFTER UPDATE ON "memory_entry" BEGIN
     INSERT INTO "memory_entry_search"("memory_entry_search", "rowid", "category", "key", "value") VALUES ('delete', old."seq", old."category", old."key", old."value");
     INSERT INTO "memory_entry_search"("rowid", "category", "key", "value") VALUES (new."seq", new."category", new."key", new."value"); END`,
  `CREATE TRIGGER "memory_entry_search_delete" AFTER DELETE ON "memory_entry" BEGIN
     INSERT INTO "memory_entry_search"("memory_entry_search", "rowid", "category", "key", "value") VALUES ('delete', old."seq", old."category", old."key", old."value"); END`,
  `CREATE VIRTUAL TABLE "memory_chunk_search" USING fts5("title", "content", content='memory_chunk', content_rowid='seq',
     tokenize='porter unicode61 remove_diacritics 2')`,
  `CREATE TRIGGER "memory_chunk_search_insert" AFTER INSERT ON "memory_chunk" BEGIN
     INSERT INTO "memory_chunk_search"("rowid", "title", "content") VALUES (new."seq", new."title", new."content"); END`,
  `CREATE TRIGGER "memory_chunk_search_update" AFTER UPDATE OF "title", "content" ON "memory_chunk" BEGIN
     INSERT INTO "memory_chunk_search"("memory_chunk_search", "rowid", "title", "content") VALUES ('delete', old."seq", old."title", old."content");
     INSERT INTO "memory_chunk_search"("rowid", "title", "content") VALUES (new."seq", new."title", new."content"); END`,
  `CREATE TRIGGER "memory_chunk_search_delete" AFTER DELETE ON "memory_chunk" BEGIN
     INSERT INTO "memory_chunk_search"("memory_chunk_search", "rowid", "title", "content") VALUES ('delete', old."seq", old."title", old."content"); END`,
]

/** Memory, notifications, calendar, to-dos, timers, the audit of actions, tool servers and downloads of models. */
export class AMind20261122000000 implements MigrationInterface {
  name = 'AMind20261122000000'

  async up(runner: QueryRunner): Promise<void> {
    for (const statement of [...TABLES.split(/;\s*\n/), ...SEARCH]) await runner.query(statement)
  }

  async down(): Promise<void> {
    throw new Error('Migrations only go forward; restore the backup made before the upgrade instead')
  }
}
