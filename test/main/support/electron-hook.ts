import { registerHooks } from 'node:module'

/** Preloaded into a process so that `import 'electron'` finds the stand-in. */
registerHooks({
  resolve: (name, context, next) =>
    name === 'electron' ? { url: new URL('electron-stub.ts', import.meta.url).href, shortCircuit: true } : next(name, context),
})
