import { builtinModules } from 'node:module'
import { dirname } from 'node:path'
import { defineConfig, type EnvironmentOptions, type Plugin } from 'vite'

/** Matches the address of a file that runs in a process or thread of its own. */
const OWN_PROCESS = /new URL\('(\.[^']+\.ts)', import\.meta\.url\)/g

/** Builds files that are started by their address beside the bundle, and points the address there. */
const ownProcesses: Plugin = {
  name: 'own-processes',
  transform: {
    filter: { code: OWN_PROCESS },
    async handler(code, importer) {
      const parts: string[] = []
      let end = 0
      for (const match of code.matchAll(OWN_PROCESS)) {
        const id = (await this.resolve(match[1] ?? '', importer))?.id
        if (id === undefined) this.error(`${match[1]} is not there`)
        parts.push(code.slice(end, match.index), `new URL(import.meta.ROLLUP_FILE_URL_${this.emitFile({ type: 'chunk', id })})`)
        end = match.index + match[0].length
      }
      return parts.length > 0 ? { code: parts.join('') + code.slice(end), map: null } : null
    },
  },
}

const external = ['electron', ...builtinModules, /^node:/]

/** Only this project's own files are bundled: packages stay as npm installed them, and electron-builder packs them. */
const part = (input: string, format: 'es' | 'cjs' = 'es'): EnvironmentOptions => ({
  consumer: 'server',
  resolve: { external: true },
  build: {
    outDir: `dist/${dirname(input)}`,
    // The preload script is built into the folder that main was just built into.
    emptyOutDir: format === 'es',
    target: 'node24',
    minify: false,
    sourcemap: false,
    copyPublicDir: false,
    rolldownOptions: {
      input,
      external,
      output: { format, entryFileNames: format === 'cjs' ? '[name].cjs' : '[name].js', chunkFileNames: '[name].js' },
    },
  },
})

const parts = { main: part('main/main.ts'), preload: part('main/preload.ts', 'cjs'), server: part('server/server.ts') }

/** Shell and server as Electron runs them, in dist/. */
export default defineConfig({
  publicDir: false,
  plugins: [ownProcesses],
  environments: parts,
  builder: {
    async buildApp(builder) {
      for (const name of Object.keys(parts)) {
        const environment = builder.environments[name]
        if (environment) await builder.build(environment)
      }
    },
  },
})
