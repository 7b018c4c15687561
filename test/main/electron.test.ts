import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { _electron } from 'playwright'
import { expect, test } from 'vitest'
import { desktop, ensureBuilt, pages, server } from '../../scripts/build.mjs'
import { electronBinary, noWindowHere } from '../../scripts/electron.mjs'

const program = electronBinary()
const obstacle = program ? noWindowHere() : 'Electron’s program is not installed here; `npm run desktop` fetches it'

test('the desktop app opens set-up in a window without Node, and stops its server when it quits', async ({ skip }) => {
  if (!program || obstacle !== null) {
    console.info(`The desktop app is not run here: ${obstacle}.`)
    return skip(obstacle ?? undefined)
  }
  for (const part of [pages, server, desktop]) await ensureBuilt(part)
  const data = mkdtempSync(join(tmpdir(), 'hearth-desktop-'))
  const env = { ...process.env, SERVICE_DATA_PATH: data, SERVICE_PORT: '0', SERVICE_DISCOVERY: '0' } as Record<string, string>
  const app = await _electron.launch({
    executablePath: program,
    args: [join(import.meta.dirname, '..', '..'), `--user-data-dir=${join(data, 'window')}`],
    env,
  })
  try {
    const window = await app.firstWindow()
    await window.waitForURL(/\/setup#pin=\d{6}$/)
    const origin = new URL(window.url()).origin
    expect(await window.evaluate(() => ['require', 'process', 'hearth'].filter((name) => name in globalThis))).toEqual([])
    await window.evaluate(() => {
      location.href = 'https://evil.example/'
    })
    expect(window.url()).toContain(origin)
    expect((await fetch(`${origin}/api/status`)).status).toBe(200)
    await app.close()
    await expect(fetch(`${origin}/api/status`)).rejects.toThrow()
  } finally {
    await app.close()
    rmSync(data, { recursive: true, force: true })
  }
})
