import { readdirSync, readFileSync } from 'node:fs'
import { expect, test, vi } from 'vitest'
import { BY_ENVIRONMENT, dataRoot, startServer } from '../support/process.ts'
import { writeScriptedGguf } from '../support/scripted-gguf.ts'
import { hangAfter, startHub } from './hub-server.ts'
import { modelsFolder, until } from './llm-harness.ts'

vi.setConfig({ testTimeout: 180_000 })

test('killed in the middle of a download, it goes on with it by itself, and has the file whole', async () => {
  using folder = modelsFolder()
  writeScriptedGguf(folder.file('x.gguf'), { embeds: true })
  // longer than what is brought to the disk at once, so that something of it is certain
  const content = Buffer.concat([readFileSync(folder.file('x.gguf')), Buffer.alloc(40 * 1024 * 1024)])
  await using hub = await startHub()
  hub.files.set('hearth/models/x.gguf', content)
  hub.next.push(hangAfter(20 * 1024 * 1024))
  using root = dataRoot()
  const env = { ...BY_ENVIRONMENT, SERVICE_MODEL_HUB_URL: hub.url }
  await using server = await startServer(root.path, { env })
  const owner = await server.owner()
  const { id } = await owner.api.models.download({ body: { repo: 'hearth/models', file: 'x.gguf' } })
  await until(async () => (await owner.api.models.overview()).downloads[0]?.doneBytes === 20 * 1024 * 1024)
  await server.kill()
  await using again = await startServer(root.path, { env })
  const back = await again.owner()
  await until(async () => (await back.api.models.overview()).downloads[0]?.status === 'done')
  expect((await back.api.models.overview()).downloads).toMatchObject([{ id, name: 'x', error: null }])
  expect(Number(/^bytes=(\d+)-$/.exec(hub.requests.at(-1)?.range ?? '')?.[1])).toBeGreaterThanOrEqual(16 * 1024 * 1024)
  expect(readFileSync(root.file('models', 'x.gguf')).equals(content)).toBe(true)
  expect(readdirSync(root.file('models', '.part'))).toEqual([])
})
