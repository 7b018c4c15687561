import type { MigrationInterface, QueryRunner } from 'typeorm'

const TABLES = `
CREATE TABLE "instance" ("id" text PRIMARY KEY NOT NULL, "consoleDeviceId" text NOT NULL, "createdAt" text NOT NULL);
CREATE TABLE "household" ("id" text PRIMARY KEY NOT NULL, "displayName" text NOT NULL, "mode" text NOT NULL, "timezone" text NOT NULL,
  "locale" text NOT NULL, "createdAt" text NOT NULL, "updatedAt" text NOT NULL);
CREATE TABLE "person" ("id" text PRIMARY KEY NOT NULL, "householdId" text NOT NULL, "displayName" text NOT NULL, "pronouns" text NOT NULL,
  "role" text NOT NULL, "aliases" text NOT NULL, "birthDate" text, "position" integer NOT NULL,
  CONSTRAINT "person_household_fk" FOREIGN KEY ("householdId") REFERENCES "household" ("id") ON DELETE CASCADE ON UPDATE NO ACTION);
CREATE INDEX "person_household" ON "person" ("householdId", "position");

CREATE TABLE "owner" ("id" text PRIMARY KEY NOT NULL, "name" text NOT NULL, "email" text, "picture" text, "passwordHash" text, "updatedAt" text NOT NULL);
CREATE TABLE "owner_session" ("id" text PRIMARY KEY NOT NULL, "tokenHash" text NOT NULL, "createdAt" text NOT NULL, "lastSeenAt" text NOT NULL,
  "expiresAt" text NOT NULL, "address" text NOT NULL, "userAgent" text NOT NULL);
CREATE TABLE "api_key" ("id" text PRIMARY KEY NOT NULL, "label" text NOT NULL, "scope" text NOT NULL, "keyHash" text NOT NULL,
  "createdAt" text NOT NULL, "expiresAt" text, "lastUsedAt" text);
CREATE UNIQUE INDEX "api_key_hash" ON "api_key" ("keyHash");

CREATE TABLE "paired_device" ("id" text PRIMARY KEY NOT NULL, "name" text NOT NULL, "type" text NOT NULL, "scope" text NOT NULL, "personId" text,
  "platform" text, "osVersion" text, "appVersion" text, "push" text, "quietHours" text, "createdAt" text NOT NULL, "lastSeenAt" text NOT NULL);
CREATE TABLE "device_session" ("id" text PRIMARY KEY NOT NULL, "deviceId" text NOT NULL, "kind" text NOT NULL, "accessId" text NOT NULL,
  "tokenHash" text NOT NULL, "createdAt" text NOT NULL, "lastUsedAt" text NOT NULL, "expiresAt" text NOT NULL,
  CONSTRAINT "device_session_device_fk" FOREIGN KEY ("deviceId") REFERENCES "paired_device" ("id") ON DELETE CASCADE ON UPDATE NO ACTION);
CREATE INDEX "device_session_device" ON "device_session" ("deviceId");
CREATE UNIQUE INDEX "device_session_access" ON "device_session" ("accessId");
CREATE UNIQUE INDEX "device_session_token" ON "device_session" ("tokenHash");
CREATE TABLE "spent_refresh_token" ("id" text PRIMARY KEY NOT NULL, "sessionId" text NOT NULL, "spentAt" text NOT NULL,
  "successorHash" text NOT NULL, "sealedSuccessor" text,
  CONSTRAINT "spent_refresh_token_session_fk" FOREIGN KEY ("sessionId") REFERENCES "device_session" ("id") ON DELETE CASCADE ON UPDATE NO ACTION);
CREATE INDEX "spent_refresh_token_session" ON "spent_refresh_token" ("sessionId");
CREATE INDEX "spent_refresh_token_age" ON "spent_refresh_token" ("spentAt");

CREATE TABLE "pairing" ("id" text PRIMARY KEY NOT NULL, "codeHash" text NOT NULL, "secretHash" text NOT NULL, "scope" text NOT NULL,
  "personId" text, "name" text, "state" text NOT NULL, "wrongTries" integer NOT NULL, "deviceId" text, "createdAt" text NOT NULL, "expiresAt" text NOT NULL);
CREATE INDEX "pairing_code" ON "pairing" ("codeHash");
CREATE INDEX "pairing_age" ON "pairing" ("expiresAt");
CREATE TABLE "pair_request" ("id" text PRIMARY KEY NOT NULL, "userCodeHash" text NOT NULL, "pollSecretHash" text NOT NULL, "deviceInfo" text NOT NULL,
  "scope" text, "personId" text, "createdAt" text NOT NULL, "expiresAt" text NOT NULL);
CREATE INDEX "pair_request_code" ON "pair_request" ("userCodeHash");
CREATE INDEX "pair_request_age" ON "pair_request" ("expiresAt");

CREATE TABLE "conversation" ("id" text PRIMARY KEY NOT NULL, "deviceId" text NOT NULL, "personId" text, "title" text NOT NULL,
  "createdAt" text NOT NULL, "updatedAt" text NOT NULL);
CREATE INDEX "conversation_person" ON "conversation" ("personId", "updatedAt");
CREATE INDEX "conversation_device" ON "conversation" ("deviceId", "updatedAt");
CREATE TABLE "message" ("seq" integer PRIMARY KEY NOT NULL, "id" text NOT NULL, "conversationId" text NOT NULL, "role" text NOT NULL,
  "content" text NOT NULL, "status" text NOT NULL, "model" text, "toolCalls" text, "createdAt" text NOT NULL,
  CONSTRAINT "message_conversation_fk" FOREIGN KEY ("conversationId") REFERENCES "conversation" ("id") ON DELETE CASCADE ON UPDATE NO ACTION);
CREATE UNIQUE INDEX "message_id" ON "message" ("id");
CREATE INDEX "message_conversation" ON "message" ("conversationId", "seq")`

/** A reply is indexed once it is finished, not at every piece of it. */
const SEARCH = [
  `CREATE VIRTUAL TABLE "message_search" USING fts5("content", content='message', content_rowid='seq', tokenize='unicode61 remove_diacritics 2')`,
  `CREATE TRIGGER "message_search_insert" AFTER INSERT ON "message" WHEN new."status" <> 'streaming' BEGIN
     INSERT INTO "message_search"("rowid", "content") VALUES (new."seq", new."content"); END`,
  `CREATE TRIGGER "message_search_finish" AFTER UPDATE OF "status" ON "message" WHEN old."status" = 'streaming' AND new."status" <> 'streaming' BEGIN
     INSERT INTO "message_search"("rowid", "content") VALUES (new."seq", new."content"); END`,
  `CREATE TRIGGER "message_search_delete" AFTER DELETE ON "message" WHEN old."status" <> 'streaming' BEGIN
     INSERT INTO "message_search"("message_search", "rowid", "content") VALUES ('delete', old."seq", old."content"); END`,
]

/** The household, who may enter it, and what was said in it. */
export class FirstHouse20261121000000 implements MigrationInterface {
  name = 'FirstHouse20261121000000'

  async up(runner: QueryRunner): Promise<void> {
    for (const statement of [...TABLES.split(/;\s*\n/), ...SEARCH]) await runner.query(statement)
  }

  async down(): Promise<void> {
    throw new Error('Migrations only go forward; restore the backup made before the upgrade instead')
  }
}
