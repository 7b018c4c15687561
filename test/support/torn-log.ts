import { readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { addNote, killed, noteIds, notesFolder } from './notes.ts'

/** Writes over a part of a file; its length stays. */
export function overwrite(path: string, at: number, bytes: Buffer): void {
  const content = readFileSync(path)
  bytes.copy(content, at)
  writeFileSync(path, content)
}

/**
 * Cuts the log of a killed database off at `places` places, or flips a byte there, and opens it each time. Answers one
 * line for each time that something else came out than a beginning of what was committed.
 */
export async function tornLogs(places: number): Promise<string[]> {
  using folder = notesFolder()
  const first = await folder.open()
  for (let at = 0; at < 60; at++) await addNote(first, `filler ${at}`, 'x'.repeat(2_000))
  await first.close()
  const ids = Array.from({ length: 12 }, (_, index) => `n${String(index).padStart(2, '0')}`)
  await killed(folder, ...ids)
  const files = ['', '-wal', '-shm'].map((suffix) => [suffix, readFileSync(folder.path + suffix)] as const)
  const log = readFileSync(`${folder.path}-wal`)
  const wrong: string[] = []
  for (let place = 0; place < places; place++) {
    for (const [suffix, content] of files) writeFileSync(folder.path + suffix, content)
    const at = Math.floor((log.length * place) / places) + (place % 3)
    if (place % 2) truncateSync(`${folder.path}-wal`, at)
    else overwrite(`${folder.path}-wal`, at, Buffer.from([(log[at] ?? 0) ^ 0xff]))
    if (place % 4 > 1) rmSync(`${folder.path}-shm`)
    const db = await folder.open({ wasUnclean: true })
    const found = noteIds(db).filter((id) => id.startsWith('n'))
    const verdict = db.select<{ quick_check: string }>('PRAGMA quick_check')[0]?.quick_check
    if (found.join() !== ids.slice(0, found.length).join() || db.damage !== null || verdict !== 'ok')
      wrong.push(`at byte ${at}: ${found.join()}, ${db.damage}, ${verdict}`)
    await db.close()
  }
  return [...wrong, ...readdirSync(dirname(folder.path)).filter((name) => name.includes('.corrupt.'))]
}
