import { contextBridge, ipcRenderer } from 'electron'
import { LOCAL_SCHEME } from './guards.ts'
import { verbs } from './verbs.contract.ts'

declare const location: { readonly protocol: string }

// Pages of the server get nothing native: they use the same HTTP and socket interface as any browser.
if (location.protocol === `${LOCAL_SCHEME}:`) {
  contextBridge.exposeInMainWorld('hearth', {
    status: () => ipcRenderer.invoke(verbs.status),
    resume: () => ipcRenderer.invoke(verbs.resume),
    quit: () => ipcRenderer.invoke(verbs.quit),
    resetPassword: (password: string) => ipcRenderer.invoke(verbs.resetPassword, password),
  })
}
