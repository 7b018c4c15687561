import { readFileSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs'
import { describe, expect, test, vi } from 'vitest'
import { createModelFiles } from '../../server/modules/models/shelf/model-files.ts'
import { SCRIPTS, writeScriptedGguf } from '../support/scripted-gguf.ts'
import { ask, llmOver, modelsFolder, startedLlm, until } from './llm-harness.ts'

// a model process needs a second of processor time to start, and there may be little of it
vi.setConfig({ testTimeout: 120_000 })

describe('the chosen model', () => {
  test('is loaded in the background while a request waits', async () => {
    await using started = await startedLlm()
    const asked = ask(started.llm, 'weather')
    expect((await started.llm.status()).status).toBe('loading')
    expect((await asked).text).toBe(SCRIPTS.weather.reply)
    expect(await started.llm.status()).toEqual({ status: 'ok', models: ['house'] })
    await started.llm.choose({ model: null, baseUrl: null, apiKey: null })
    expect((await started.llm.status()).status, 'chosen again, it is not loaded anew').toBe('ok')
  })

  test('is found when it appears, without a restart', async () => {
    using folder = modelsFolder()
    const llm = llmOver(folder.file('not-there-yet'))
    const later = llmOver(folder.path)
    await Promise.all([llm.start(), later.start()])
    try {
      expect(await llm.status()).toEqual({ status: 'no_model', models: [] })
      await expect(ask(llm, 'weather')).rejects.toMatchObject({ status: 503, code: 'no_model' })
      writeScriptedGguf(folder.file('late.gguf'))
      expect((await ask(later, 'weather')).model).toBe('late')
    } finally {
      await Promise.all([llm.stop(), later.stop()])
    }
  })

  test('that was still being copied is tried again when it is whole', async () => {
    using folder = modelsFolder()
    writeScriptedGguf(folder.file('slow.gguf'))
    const whole = readFileSync(folder.file('slow.gguf'))
    truncateSync(folder.file('slow.gguf'), 1_000_000)
    const llm = llmOver(folder.path)
    await llm.start()
    try {
      await until(async () => (await llm.status()).status === 'error')
      writeFileSync(folder.file('slow.gguf'), whole)
      await until(async () => (await llm.status()).status === 'ok')
    } finally {
      await llm.stop()
    }
  })

  test('changes by name or by path; an absent one is an error that says so', async () => {
    await using started = await startedLlm()
    const { llm, folder } = started
    writeScriptedGguf(folder.file('attic.gguf'))
    await llm.choose({ model: 'attic', baseUrl: null, apiKey: null })
    expect((await ask(llm, 'weather')).model).toBe('attic')
    expect((await llm.status()).models).toEqual(['attic', 'house'])
    await llm.choose({ model: folder.file('house.gguf'), baseUrl: null, apiKey: null })
    expect((await ask(llm, 'weather')).model).toBe('house')
    await llm.choose({ model: folder.file('attic/loft.gguf'), baseUrl: null, apiKey: null })
    expect((await llm.status()).detail).toBe('There is no model called loft.gguf.')
    await llm.choose({ model: 'cellar', baseUrl: null, apiKey: null })
    expect(await llm.status()).toEqual({ status: 'error', models: ['attic', 'house'], detail: 'There is no model called cellar.' })
    await expect(ask(llm, 'weather')).rejects.toMatchObject({ status: 503, code: 'model_unavailable' })
  })
})

describe('names of model files', () => {
  test('stay inside the folder', async () => {
    using folder = modelsFolder()
    using elsewhere = modelsFolder()
    writeFileSync(elsewhere.file('secret.gguf'), 'GGUF')
    writeFileSync(folder.file('own.gguf'), 'GGUF')
    symlinkSync(elsewhere.file('secret.gguf'), folder.file('link.gguf'))
    symlinkSync(folder.file('own.gguf'), folder.file('alias.gguf'))
    const files = createModelFiles(folder.path)
    expect((await files.list()).map(({ name }) => name)).toEqual(['alias', 'own'])
    expect((await files.find('own'))?.path).toBe(folder.file('own.gguf'))
    expect((await files.find('own.gguf'))?.name).toBe('own')
    const outside = [`../${elsewhere.path.split('/').at(-1)}/secret`, 'link', '..', '', '.', 'own\0', 'nothing']
    expect(await Promise.all(outside.map((name) => files.find(name)))).toEqual(outside.map(() => undefined))
  })

  test('leave out what cannot speak alone', async () => {
    using folder = modelsFolder()
    for (const name of ['mmproj-house.gguf', 'big-00001-of-00003.gguf', 'big-00002-of-00003.gguf', 'half.gguf.part', 'notes.txt'])
      writeFileSync(folder.file(name), 'GGUF')
    expect((await createModelFiles(folder.path).list()).map(({ name }) => name)).toEqual(['big-00001-of-00003'])
  })
})
