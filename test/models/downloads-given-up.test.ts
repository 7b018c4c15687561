import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openDatabase } from '../../server/db/database.ts'
import { migrations } from '../../server/db/migrations/all.ts'
import { createDownloadsService } from '../../server/modules/models/downloads/downloads.service.ts'
import { createHub } from '../../server/modules/models/downloads/hub.ts'
import { createFilePlacer } from '../../server/modules/models/shelf/place-file.ts'
import { tables } from '../../server/tables.ts'
import { cutAfter, startHub } from './hub-server.ts'
import { log, modelsFolder, until } from './llm-harness.ts'

test('a hub that always breaks off at the same place is given up in the end', async () => {
  using folder = modelsFolder()
  await using server = await startHub()
  const content = Buffer.concat([Buffer.from('GGUF'), Buffer.alloc(200_000)])
  server.files.set('a/b/x.gguf', content)
  for (let at = 0; at < 200; at++) server.next.push(cutAfter(100_000))
  const db = await openDatabase({
    path: folder.file('hearth.sqlite'),
    backupsPath: folder.file('backups'),
    tables,
    migrations,
    wasUnclean: false,
    log,
    onDiskFailure: () => undefined,
  })
  const downloads = createDownloadsService({
    db,
    modelsPath: join(folder.path, 'models'),
    hub: createHub(() => server.url),
    place: createFilePlacer(),
    publish: () => undefined,
    log,
    waits: { firstMs: 1, longestMs: 2 },
  })
  await downloads.start()
  await downloads.add({ name: 'x', path: 'a/b/resolve/main/x.gguf', sha256: null, sizeBytes: null })
  await until(() => downloads.list()[0]?.status === 'failed')
  expect(downloads.list()[0]?.error).toBe('The connection to the hub broke off.')
  expect(server.next.length, 'long before the hub had enough').toBeGreaterThan(100)
  await downloads.stop()
  await db.close()
})
