import { builtinModules } from 'node:module'
import { defineConfig, type EnvironmentOptions } from 'vite'

const external = ['electron', ...builtinModules, /^node:/]

/** Only this project's own files are bundled: packages stay as npm installed them, and electron-builder packs them. */
const part = (input: string, format: 'es' | 'cjs'): EnvironmentOptions => ({
  consumer: 'server',
  resolve: { external: true },
  build: {
    outDir: 'dist/main',
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
  main: part('main/main.ts', 'es'),
  preload: part('main/preload.ts', 'cjs'),
}

/** The shell as Electron runs it, in dist/main. The server beside it is built by vite.server.config.ts. */
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
