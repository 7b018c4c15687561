/** Where the worker is, which keeps the window for when the server cannot be reached and shows what is pushed. */
const WORKER = '/worker.js'

/** Whether this browser can have it: on plain HTTP none has, and in the desktop app the server is right there. */
export const mayKeepWindow = (): boolean =>
  window.isSecureContext && 'serviceWorker' in navigator && !import.meta.env.DEV && !navigator.userAgent.includes('Electron')

/** Keeps the window on this device. Where that fails the window works as before, and it is tried again at the next visit. */
export async function keepWindow(): Promise<void> {
  if (!mayKeepWindow()) return
  await navigator.serviceWorker.register(WORKER, { updateViaCache: 'none' }).catch(() => undefined)
}
