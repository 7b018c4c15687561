import { svelte } from '@sveltejs/vite-plugin-svelte'
import { defineConfig } from 'vite'

const server = process.env.HEARTH_URL ?? 'http://127.0.0.1:7420'

export default defineConfig({
  root: import.meta.dirname,
  plugins: [svelte()],
  build: {
    outDir: '../dist/renderer',
    emptyOutDir: true,
    target: ['chrome100', 'firefox102', 'safari15.4'],
    // The content security policy knows no data: fonts or scripts, so every asset stays a file.
    assetsInlineLimit: 0,
    license: true,
  },
  server: { proxy: { '/api': server, '/ws': { target: server, ws: true } } },
})
