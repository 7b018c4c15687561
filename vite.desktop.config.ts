import { builtinModules } from 'node:module'
import { defineConfig, type EnvironmentOptions } from 'vite'

const external = ['electron', ...builtinModules, /^node:/]

/** Only this project's own files are bundled: packages stay as npm installed them, and electron-builder packs them. */
const part = (folder: string, input: string | string[], format: 'es' | 'cjs' = 'es'): EnvironmentOptions => ({
  consumer: 'server',
  resolve: { external: true },
  build: {
    outDir: `dist/${folder}`,
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

const parts = {
  main: part('main', 'main/main.ts'),
  preload: part('main', 'main/preload.ts', 'cjs'),
  // Files that run in processes and threads of their own are started by their address, beside the server's.
  server: part('server', [
    'server/server.ts',
    'server/modules/models/llama-host.ts',
    'server/modules/memory/vectors/graph-worker.ts',
    'server/modules/calendar/ics-worker.ts',
  ]),
}

/** Shell and server as Electron runs them, in dist/. */
export default defineConfig({
  publicDir: false,
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
