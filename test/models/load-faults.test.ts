import { execFileSync, spawn } from 'node:child_process'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, test, vi } from 'vitest'
import { startLlamaChild } from '../../server/modules/models/llama/llama-child.ts'
import type { HostNews } from '../../server/modules/models/llama/llama-protocol.ts'
import { createLlamaRunner, type LlamaRunner } from '../../server/modules/models/llama/llama-runner.ts'
import { explainLoadFault } from '../../server/modules/models/shelf/load-faults.ts'
import { createModelFiles } from '../../server/modules/models/shelf/model-files.ts'
import { SCRIPTS, writeScriptedGguf } from '../support/scripted-gguf.ts'
import { ask, isAlive, llmOver, log, modelsFolder, until } from './llm-harness.ts'

// a model process needs a second of processor time to start, and there may be little of it
vi.setConfig({ testTimeout: 120_000 })

/** A runner over the scripted model, so that its process is known. */
async function startedRunner() {
  const folder = modelsFolder()
  writeScriptedGguf(folder.file('house.gguf'))
  const [file] = await createModelFiles(folder.path).list()
  const runner = createLlamaRunner({ file: file!, runtime: { gpu: false, threads: 1 }, slots: 4, log })
  await runner.start()
  return {
    runner,
    folder,
    async [Symbol.asyncDispose]() {
      await runner.stop()
      folder[Symbol.dispose]()
    },
  }
}

const ready = (runner: LlamaRunner) => until(() => runner.state().status === 'ok')

describe('a file that is no model', () => {
  const scripted = () => {
    using folder = modelsFolder()
    writeScriptedGguf(folder.file('house.gguf'))
    return readFileSync(folder.file('house.gguf'))
  }
  const doubled = () => {
    const bytes = scripted()
    const token = (text: string) =>
      Buffer.concat([Buffer.from(BigUint64Array.of(BigInt(Buffer.byteLength(text))).buffer), Buffer.from(text)])
    token('\u2581dog').copy(bytes, bytes.indexOf(token('\u2581cat')))
    return bytes
  }
  const otherKind = () => {
    using folder = modelsFolder()
    writeScriptedGguf(folder.file('house.gguf'), { architecture: 'nonsense' })
    return readFileSync(folder.file('house.gguf'))
  }
  const jpeg = Buffer.concat([Buffer.of(0xff, 0xd8, 0xff, 0xe0, 0, 16), Buffer.from('JFIF'), Buffer.alloc(5000, 7)])

  test.each<[string, () => Buffer, RegExp]>([
    ['cut in its weights', () => scripted().subarray(0, 2_000_000), /damaged or incomplete/],
    ['a picture', () => jpeg, /not a GGUF/],
    ['of an unknown kind', otherKind, /not supported/],
    ['that makes the native library abort', doubled, /failed on this file/],
  ])('%s: says why, refuses within a second, is not tried again', async (_what, bytes, reason) => {
    using folder = modelsFolder()
    writeFileSync(folder.file('bad.gguf'), bytes())
    const llm = llmOver(folder.path)
    await llm.start()
    try {
      await until(async () => (await llm.status()).status === 'error')
      const status = await llm.status()
      expect(status.detail).toMatch(reason)
      expect(status.detail).not.toContain(folder.path)
      expect(status.models).toEqual([])
      const asked = performance.now()
      await expect(ask(llm, 'weather')).rejects.toMatchObject({ status: 503, code: 'model_unavailable', message: status.detail })
      expect(performance.now() - asked).toBeLessThan(1000)
      expect((await llm.status()).status).toBe('error')
    } finally {
      await llm.stop()
    }
  })

  test('that goes away while it is loaded makes the next start say so', async () => {
    await using started = await startedRunner()
    const { runner, folder } = started
    await ready(runner)
    rmSync(folder.file('house.gguf'))
    expect((await ask(runner, 'weather')).text).toBe(SCRIPTS.weather.reply)
    process.kill(runner.pid()!, 'SIGKILL')
    await until(() => runner.state().status === 'error')
    expect(runner.state().detail).toMatch(/not there/)
  })
})

describe('a crash of the model process', () => {
  test('fails the replies on their way, and the next one works', async () => {
    await using started = await startedRunner()
    const { runner } = started
    await ready(runner)
    const first = runner.pid()!
    let said = ''
    const cut = ask(runner, 'forever', {
      maxTokens: 3000,
      onText: (text) => {
        said += text
        if (said.length > 30 && isAlive(first)) process.kill(first, 'SIGKILL')
      },
    })
    await expect(cut).rejects.toMatchObject({ status: 503, code: 'model_unavailable' })
    expect(said).not.toBe('')
    expect((await ask(runner, 'weather')).text).toBe(SCRIPTS.weather.reply)
    expect(runner.pid()).not.toBe(first)
    expect(isAlive(first)).toBe(false)
  })

  test('again and again is answered by a longer pause each time, then by a refusal', async () => {
    await using started = await startedRunner()
    const { runner } = started
    for (let crash = 0; crash < 3; crash++) {
      await ready(runner)
      process.kill(runner.pid()!, 'SIGKILL')
      await until(() => runner.state().status !== 'ok')
      expect(runner.state().status).toBe('loading')
    }
    await ready(runner)
    process.kill(runner.pid()!, 'SIGKILL')
    await until(() => runner.state().status === 'error')
    const asked = performance.now()
    await expect(ask(runner, 'weather')).rejects.toMatchObject({ status: 503, code: 'model_unavailable' })
    expect(performance.now() - asked).toBeLessThan(10_000)
    await ready(runner)
    expect((await ask(runner, 'weather')).text).toBe(SCRIPTS.weather.reply)
  })

  test('by the system while it loads is taken for a lack of memory: once more with less, then no more', async () => {
    await using started = await startedRunner()
    const { runner } = started
    const first = runner.pid()!
    process.kill(first, 'SIGKILL')
    await until(() => runner.pid() !== undefined && runner.pid() !== first)
    process.kill(runner.pid()!, 'SIGKILL')
    await until(() => runner.state().status === 'error')
    expect(runner.state().detail).toMatch(/memory/)
    expect(runner.pid()).toBeUndefined()
  })
})

test.each([
  ["Error: ENOENT: no such file or directory, open '/x.gguf'", /not there/],
  ['Error: Invalid GGUF magic. Expected "GGUF" but got "    ".', /not a GGUF/],
  ['Error: Failed to load model\ngguf_init_from_reader: failed to read key-value pairs', /damaged or incomplete/],
  ['RangeError: The value of "size" is out of range.', /damaged or incomplete/],
  ['Error: A context size of 4096 is too large for the available VRAM', /not enough memory/],
  ['Error: something new', /could not be loaded/],
])('%s is said in plain words', (cause, reason) => {
  expect(explainLoadFault(cause)).toMatch(reason)
})

describe('the model process', () => {
  test('ends a reply that takes too long', async () => {
    using folder = modelsFolder()
    writeScriptedGguf(folder.file('house.gguf'))
    const heard: HostNews[] = []
    const child = startLlamaChild(log, (news) => heard.push(news))
    try {
      child.send({ type: 'load', path: folder.file('house.gguf'), gpu: false, threads: 1, slots: 1, contextTokens: 4096 })
      await until(() => heard.length > 0)
      const messages = [{ role: 'user' as const, content: 'forever' }]
      child.send({ type: 'generate', id: '1', conversationId: 'c', messages, maxTokens: 3500, maxMs: 100, temperature: 0 })
      await until(() => heard.at(-1)?.type === 'done')
      expect(heard.at(-1)).toMatchObject({ id: '1', stopReason: 'length' })
      expect(heard.length).toBeLessThan(3000)
    } finally {
      child.kill()
      await child.exited
    }
  })

  test('ends with stop, also in the middle of a reply', async () => {
    await using started = await startedRunner()
    const { runner } = started
    await ready(runner)
    const pid = runner.pid()!
    let refused: unknown
    const talking = ask(runner, 'forever', { maxTokens: 3000 }).catch((error: unknown) => {
      refused = error
    })
    await new Promise((resolve) => setTimeout(resolve, 50))
    await runner.stop()
    expect(isAlive(pid)).toBe(false)
    await talking
    expect(refused).toMatchObject({ status: 503 })
  })

  test('ends when its parent is killed', async () => {
    using folder = modelsFolder()
    writeScriptedGguf(folder.file('house.gguf'))
    const runner = fileURLToPath(new URL('../../server/modules/models/llama/llama-runner.ts', import.meta.url))
    const logger = fileURLToPath(new URL('../../server/kit/log.ts', import.meta.url))
    const program = `
      import { createLlamaRunner } from ${JSON.stringify(runner)}
      import { createLog } from ${JSON.stringify(logger)}
      const file = { name: 'house', path: ${JSON.stringify(folder.file('house.gguf'))}, version: '' }
      const llm = createLlamaRunner({ file, runtime: { gpu: false, threads: 1 }, slots: 4, log: createLog('silent') })
      await llm.start()
      setInterval(() => llm.state().status === 'ok' && console.log(llm.pid()), 20)`
    const parent = spawn(process.execPath, ['--input-type=module', '-e', program], { stdio: ['ignore', 'pipe', 'inherit'] })
    const pid = await new Promise<number>((resolve, reject) => {
      parent.stdout.once('data', (line) => resolve(Number.parseInt(String(line), 10)))
      parent.once('exit', () => reject(new Error('The parent ended before its model was ready')))
    })
    expect(isAlive(pid)).toBe(true)
    parent.kill('SIGKILL')
    await until(() => !isAlive(pid), 3_000)
  })

  test.runIf(process.platform === 'linux')('inherits no secret, and stands back behind the server', async () => {
    process.env.SERVICE_JWT_SECRET = 'do-not-pass-on'
    try {
      await using started = await startedRunner()
      await ready(started.runner)
      const pid = started.runner.pid()!
      const environment = readFileSync(`/proc/${pid}/environ`, 'utf8')
      expect(environment).not.toContain('do-not-pass-on')
      expect(environment).not.toMatch(/(SERVICE|AUTH|VITEST)_/)
      await ask(started.runner, 'weather')
      const niceness = execFileSync('ps', ['-L', '-o', 'ni=', '-p', String(pid)], { encoding: 'utf8' })
      expect(new Set(niceness.trim().split(/\s+/))).toEqual(new Set(['3']))
    } finally {
      delete process.env.SERVICE_JWT_SECRET
    }
  })
})
