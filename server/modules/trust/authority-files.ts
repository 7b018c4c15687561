import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { writeFileAtomic } from '../../kit/atomic-file.ts'
import type { Identity } from './certificates.ts'

export type AuthorityFiles = ReturnType<typeof createAuthorityFiles>

/** `config/tls/`, in which the authority and the server’s certificate are kept. There is an authority once `ca.crt` stands. */
export function createAuthorityFiles(folder: string) {
  const file = (name: string) => join(folder, name)
  const read = (name: 'ca' | 'server'): Identity => ({
    cert: readFileSync(file(`${name}.crt`), 'utf8'),
    key: readFileSync(file(`${name}.key`), 'utf8'),
  })

  function write(name: 'ca' | 'server', { cert, key }: Identity): void {
    mkdirSync(folder, { recursive: true })
    if (process.platform !== 'win32') chmodSync(folder, 0o700)
    writeFileAtomic(file(`${name}.key`), key, 0o600)
    writeFileAtomic(file(`${name}.crt`), cert, 0o600)
  }

  return {
    exists: (): boolean => existsSync(file('ca.crt')),
    readRoot: () => read('ca'),
    readServer: () => read('server'),
    writeRoot: (root: Identity) => write('ca', root),
    writeServer: (server: Identity) => write('server', server),
    remove(): void {
      rmSync(file('ca.crt'), { force: true }) // with it the authority is gone, whatever a crash leaves behind
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
