import { createHash } from 'node:crypto'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { svelte } from '@sveltejs/vite-plugin-svelte'
import { defineConfig, type Plugin } from 'vite'

const server = process.env.HEARTH_URL ?? 'http://127.0.0.1:7420'

const WORKER = 'worker.js'
/** Licences and maps are for reading, not for the window. */
const isOfWindow = (path: string) => !/\.(html|map|md|txt)$/.test(path) && path !== WORKER

/** Tells the service worker the files of the window that it was built with. */
const shellList: Plugin = {
  name: 'shell-list',
  enforce: 'post',
  generateBundle: {
    order: 'post',
    handler(_options, bundle) {
      const worker = bundle[WORKER]
      if (worker?.type !== 'chunk') return this.error('The service worker was not built.')
      if (worker.imports.length > 0 || worker.exports.length > 0) return this.error('The service worker has to be one file.')
      const files = [...Object.keys(bundle), ...readdirSync(join(import.meta.dirname, 'public'))].filter(isOfWindow).sort()
      const version = createHash('sha256')
        .update(JSON.stringify(files) + worker.code)
        .digest('hex')
        .slice(0, 16)
      worker.code = `self.hearthShell=${JSON.stringify({ version, files: files.map((path) => `/${path}`) })};\n${worker.code}`
    },
  },
}

export default defineConfig({
  root: import.meta.dirname,
  plugins: [svelte(), shellList],
  build: {
    outDir: '../dist/renderer',
    emptyOutDir: true,
    target: ['chrome100', 'firefox102', 'safari15.4'],
    // The content security policy knows no data: fonts or scripts, so every asset stays a file.
    assetsInlineLimit: 0,
    license: true,
    rolldownOptions: {
      input: { index: join(import.meta.dirname, 'index.html'), worker: join(import.meta.dirname, 'worker', 'worker.ts') },
      // The browser asks for the worker under the same name each time.
      output: { entryFileNames: ({ name }) => (name === 'worker' ? WORKER : 'assets/[name]-[hash].js') },
    },
  },
  server: { proxy: { '/api': server, '/ws': { target: server, ws: true } } },
})
