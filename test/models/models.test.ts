import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import type { InstalledModel } from '../../server/modules/models/models.contract.ts'
import { type Browser, type House, startHouse } from '../support/house.ts'
import { writeScriptedGguf } from '../support/scripted-gguf.ts'
import { modelsFolder, until } from './llm-harness.ts'

// a model process needs a second of processor time to start, and there may be little of it
vi.setConfig({ testTimeout: 180_000, hookTimeout: 120_000 })

let house: House
let ada: Browser
beforeAll(async () => {
  house = await startHouse()
  ada = await house.owner()
})
afterAll(() => house[Symbol.asyncDispose]())
afterEach(async () => {
  await ada.api.settings.update({ body: { SERVICE_LLM_MODEL: null, SERVICE_EMBEDDING_MODEL: null } })
  for (const file of readdirSync(at())) rmSync(at(file), { recursive: true })
  await until(async () => (await llm()).status === 'no_model')
})

const at = (...parts: string[]) => join(house.dataPath, 'models', ...parts)
const llm = async () => ada.api.models.llm()
const installed = async (name: string): Promise<InstalledModel | undefined> =>
  (await ada.api.models.overview()).installed.find((one) => one.name === name)
const load = (name: string) => ada.api.models.load({ params: { name } })
const unload = (name: string) => ada.api.models.unload({ params: { name } })
const remove = (name: string) => ada.api.models.remove({ params: { name } })
const says = async () => {
  const answer = await ada.fetch('/api/chat', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ message: 'how is the weather' }),
  })
  return answer.text()
}

function gguf(options: Parameters<typeof writeScriptedGguf>[1] = {}): Buffer {
  using folder = modelsFolder()
  writeScriptedGguf(folder.file('x.gguf'), options)
  return readFileSync(folder.file('x.gguf'))
}
const upload = (name: string, bytes: Buffer, field = 'file') => {
  const form = new FormData()
  form.append(field, new File([new Uint8Array(bytes)], name))
  return ada.api.models.import({ form })
}

describe('an empty house', () => {
  test('offers models that fit, recommends one of each kind, and names its machine', async () => {
    const { machine, hub, catalogue, installed: none, downloads, embedding } = await ada.api.models.overview()
    expect(machine.memoryBytes).toBeGreaterThan(machine.freeBytes)
    expect([machine.gpu, machine.gpuBytes, hub]).toEqual([null, null, 'https://huggingface.co'])
    expect([none, downloads]).toEqual([[], []])
    expect(embedding).toEqual({ active: 'hearth-words-1', builtIn: true })
    expect(catalogue.length).toBeGreaterThanOrEqual(10)
    expect(new Set(catalogue.map(({ id }) => id)).size).toBe(catalogue.length)
    for (const one of catalogue) {
      expect(one.memoryBytes).toBeGreaterThan(one.sizeBytes)
      expect(one.licence).not.toBe('')
    }
    const recommended = catalogue.filter((one) => one.recommended)
    expect(new Set(recommended.map(({ kind }) => kind)).size).toBe(recommended.length)
    expect(recommended.every(({ fit }) => fit === 'well')).toBe(true)
  })

  test('shows its models to the owner alone', async () => {
    const phone = await house.pair('phone', 'admin')
    await expect(phone.api.models.overview()).rejects.toMatchObject({ status: 403 })
    await expect(phone.api.models.load({ params: { name: 'x' } })).rejects.toMatchObject({ status: 403 })
    await expect(house.stranger().api.models.overview()).rejects.toMatchObject({ status: 401 })
  })
})

describe('a model that speaks', () => {
  test('is imported, serves, is put aside for good, and is deleted', async () => {
    expect(await upload('First Model.gguf', gguf())).toMatchObject({
      name: 'First-Model',
      kind: 'chat',
      architecture: 'llama',
      fit: 'well',
    })
    await until(async () => (await installed('First-Model'))?.status === 'active' || (await llm()).status === 'ok')
    expect(await says()).toContain('sunny')

    const put = await unload('First-Model')
    expect(put.status).toBe('idle')
    expect((await llm()).status).toBe('no_model')
    expect((await ada.api.settings.get()).SERVICE_LLM_MODEL).toBe('none')
    await house.restart()
    ada = await house.owner()
    expect((await llm()).status, 'it stays off although there is a file').toBe('no_model')

    expect(await load('First-Model')).toMatchObject({ status: 'active' })
    expect((await ada.api.settings.get()).SERVICE_LLM_MODEL).toBe('First-Model')
    await house.restart()
    ada = await house.owner()
    await until(async () => (await llm()).status === 'ok')

    await remove('First-Model')
    expect(existsSync(at('First-Model.gguf'))).toBe(false)
    expect((await llm()).status).toBe('no_model')
    expect((await ada.api.settings.get()).SERVICE_LLM_MODEL).toBeNull()
  })

  test('gives way to another, which the next question reaches', async () => {
    writeScriptedGguf(at('attic.gguf'))
    writeScriptedGguf(at('house.gguf'))
    await until(async () => (await llm()).status === 'ok')
    expect((await installed('attic'))?.status).toBe('active')
    expect(await load('house')).toMatchObject({ status: 'active' })
    expect((await installed('attic'))?.status).toBe('idle')
    expect((await llm()).models[0]).toBe('house')
    await remove('attic')
    expect((await llm()).status, 'deleting another changes nothing').toBe('ok')
  })

  test('that does not load leaves the one before in its place, and says why', async () => {
    writeScriptedGguf(at('good.gguf'))
    await load('good')
    writeFileSync(at('cut.gguf'), gguf().subarray(0, 2_000_000))
    await expect(load('cut')).rejects.toMatchObject({
      status: 422,
      code: 'model_unusable',
      message: 'The model file is damaged or incomplete.',
    })
    writeFileSync(at('picture.gguf'), Buffer.alloc(5000, 0xff))
    await expect(load('picture')).rejects.toMatchObject({ status: 422, code: 'model_unusable', message: 'The file is not a GGUF model.' })
    expect((await ada.api.settings.get()).SERVICE_LLM_MODEL).toBe('good')
    await until(async () => (await llm()).status === 'ok')
    expect(await says()).toContain('sunny')
    expect(await installed('picture')).toMatchObject({
      status: 'error',
      detail: 'The file is not a GGUF model.',
      kind: 'chat',
      fit: null,
      memoryBytes: null,
    })
  })

  test('that still loads can be put aside or deleted; who waits for it hears so', async () => {
    writeScriptedGguf(at('slow.gguf'))
    await ada.api.settings.update({ body: { SERVICE_LLM_MODEL: 'none' } })
    for (const end of [() => unload('slow'), () => remove('slow')]) {
      const loading = load('slow').then(
        () => 'loaded',
        ({ status, code }: { status: number; code: string }) => [status, code],
      )
      await until(async () => (await installed('slow'))?.status === 'loading')
      await end()
      expect(await loading).toEqual([409, 'conflict'])
      expect((await llm()).status).toBe('no_model')
    }
  })

  test('that is none is not named among the usable, also while another host is to reply', async () => {
    await using other = await startHouse({ env: { SERVICE_LLM_BASE_URL: 'http://127.0.0.1:9/v1' } })
    writeFileSync(join(other.dataPath, 'models', 'picture.gguf'), Buffer.alloc(5_000, 0xff))
    const owner = await other.owner()
    await until(async () => (await owner.api.models.llm()).status === 'error')
    expect((await owner.api.models.llm()).models).toEqual([])
  })

  test('in several parts is one model, and goes whole', async () => {
    for (const part of ['00001', '00002', '00003']) writeFileSync(at(`big-${part}-of-00003.gguf`), gguf().subarray(0, 1_000_000))
    expect(await installed('big-00001-of-00003')).toMatchObject({ sizeBytes: 3_000_000 })
    await remove('big-00001-of-00003')
    expect(readdirSync(at()).filter((file) => file.endsWith('.gguf'))).toEqual([])
  })
})

describe('an embedding model', () => {
  test('is not taken for one that speaks; serves when it is chosen, and the built-in one after it', async () => {
    writeScriptedGguf(at('a-meaning.gguf'), { embeds: true })
    expect((await llm()).status, 'the first file of the folder is none that speaks').toBe('no_model')
    expect(await installed('a-meaning')).toMatchObject({ kind: 'embedding', status: 'idle' })
    expect(await load('a-meaning')).toMatchObject({ kind: 'embedding', status: 'active' })
    expect((await ada.api.models.overview()).embedding).toEqual({ active: 'a-meaning', builtIn: false })
    await house.restart()
    ada = await house.owner()
    expect((await ada.api.models.overview()).embedding).toEqual({ active: 'a-meaning', builtIn: false })
    expect((await unload('a-meaning')).status).toBe('idle')
    expect((await ada.api.models.overview()).embedding.builtIn).toBe(true)
    await load('a-meaning')
    await remove('a-meaning')
    expect((await ada.api.models.overview()).embedding.builtIn).toBe(true)
    expect((await ada.api.settings.get()).SERVICE_EMBEDDING_MODEL).toBeNull()
  })

  test('that does not load leaves the built-in one in its place', async () => {
    writeFileSync(at('bad.gguf'), gguf({ embeds: true }).subarray(0, 2_000_000))
    await expect(load('bad')).rejects.toMatchObject({ status: 422, code: 'model_unusable' })
    expect((await ada.api.models.overview()).embedding.builtIn).toBe(true)
    await ada.api.settings.update({ body: { SERVICE_EMBEDDING_MODEL: 'not-there' } })
    await until(async () => (await ada.api.models.overview()).embedding.builtIn)
  })
})

describe('an import', () => {
  test.each<[string, string, Buffer, number, string]>([
    ['a picture', 'holiday.gguf', Buffer.concat([Buffer.of(0xff, 0xd8), Buffer.alloc(9000, 3)]), 422, 'not_a_model'],
    ['a picture by its name', 'holiday.jpg', Buffer.alloc(90), 422, 'not_a_model'],
    ['nothing', 'empty.gguf', Buffer.alloc(0), 422, 'not_a_model'],
    ['half a header', 'half.gguf', gguf().subarray(0, 5000), 422, 'not_a_model'],
    ['half its weights', 'cut.gguf', gguf().subarray(0, Math.floor(gguf().length / 2)), 422, 'not_a_model'],
    ['all but the last of its weights', 'nearly.gguf', gguf().subarray(0, -64), 422, 'not_a_model'],
    ['a part', 'x-00002-of-00003.gguf', gguf(), 422, 'not_a_model'],
    ['no name', '.gguf', gguf(), 422, 'not_a_model'],
  ])('of %s is refused, and nothing is left of it', async (_what, name, bytes, status, code) => {
    await expect(upload(name, bytes)).rejects.toMatchObject({ status, code })
    expect(readdirSync(at()).filter((file) => file !== '.part')).toEqual([])
  })

  test.each([
    ['../../evil.gguf', 'evil'],
    ['C:\\models\\Größe 7B (neu).GGUF', 'Gro-e-7B-neu-'],
    ['...hidden.gguf', 'hidden'],
  ])('called %j lands in the folder under a plain name', async (name, plain) => {
    expect((await upload(name, gguf({ embeds: true }))).name).toBe(plain)
    expect(readdirSync(at()).filter((file) => file !== '.part')).toEqual([`${plain}.gguf`])
  })

  test('never writes over a model, also when two come at once', async () => {
    const bytes = gguf({ embeds: true })
    const both = await Promise.allSettled([upload('twice.gguf', bytes), upload('twice.gguf', bytes)])
    expect(both.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
    await expect(upload('twice.gguf', bytes)).rejects.toMatchObject({ status: 409, code: 'model_exists' })
    expect(readFileSync(at('twice.gguf')).equals(bytes)).toBe(true)
    await expect(upload('other.gguf', bytes, 'picture')).rejects.toMatchObject({ status: 400 })
  })
})

describe('a name', () => {
  test.each(['nothing', '..', '../house', '..%2f..%2fhearth', '/etc/passwd', 'own/../own', 'own.gguf', ' own'])(
    '%j is none of a model',
    async (name) => {
      writeFileSync(join(house.dataPath, 'outside.gguf'), 'GGUF')
      for (const [method, path] of [
        ['POST', `/api/models/${encodeURIComponent(name)}/load`],
        ['POST', `/api/models/${encodeURIComponent(name)}/unload`],
        ['DELETE', `/api/models/${encodeURIComponent(name)}`],
      ] as const) {
        const answer = await ada.fetch(path, { method })
        expect([404, 405], `${method} ${path}`).toContain(answer.status)
      }
      expect(existsSync(join(house.dataPath, 'outside.gguf'))).toBe(true)
    },
  )

  test('of a folder that looks like a model is not deleted', async () => {
    mkdirSync(at('folder.gguf'))
    await expect(remove('folder')).rejects.toMatchObject({ status: 404 })
    expect(existsSync(at('folder.gguf'))).toBe(true)
  })
})

test('what the environment fixes cannot be changed here, and nothing is deleted under it', async () => {
  await using fixed = await startHouse({
    env: { SERVICE_LLM_MODEL: 'own', SERVICE_EMBEDDING_MODEL: 'meaning', SERVICE_MODEL_HUB_URL: 'http://127.0.0.1:9' },
  })
  const file = (name: string) => join(fixed.dataPath, 'models', `${name}.gguf`)
  writeScriptedGguf(file('own'))
  writeScriptedGguf(file('other'))
  writeScriptedGguf(file('meaning'), { embeds: true })
  const owner = await fixed.owner()
  const { models } = owner.api
  const locked = { status: 409, code: 'setting_locked' }
  await expect(models.load({ params: { name: 'other' } })).rejects.toMatchObject(locked)
  await expect(models.unload({ params: { name: 'own' } })).rejects.toMatchObject(locked)
  await expect(models.unload({ params: { name: 'meaning' } })).rejects.toMatchObject(locked)
  await expect(models.remove({ params: { name: 'own' } })).rejects.toMatchObject(locked)
  expect(existsSync(file('own'))).toBe(true)
  expect(await models.load({ params: { name: 'own' } }), 'which is chosen already').toMatchObject({ status: 'active' })
  await models.remove({ params: { name: 'other' } })
  expect((await models.overview()).hub).toBe('http://127.0.0.1:9')
})
