import { type ChildProcess, fork } from 'node:child_process'
import { EventEmitter } from 'node:events'

/**
 * Stands in for Electron where its program is not installed: just enough of it that dist/main/main.js runs under plain Node,
 * tells over IPC what it does with its window, and hears over IPC what a person would do.
 */
const tell = (what: object): void => void process.send?.(what)

class Contents extends EventEmitter {
  address = ''
  getURL(): string {
    return this.address
  }
  setWindowOpenHandler(): void {
    tell({ guarded: true })
  }
}

export class BrowserWindow extends EventEmitter {
  readonly webContents = new Contents()
  constructor(options: { webPreferences: object }) {
    super()
    tell({ window: options.webPreferences })
    app.emit('web-contents-created', {}, this.webContents)
    windows.push(this)
  }
  async loadURL(address: string): Promise<void> {
    this.webContents.address = address
    tell({ load: address })
  }
  isMinimized = (): boolean => false
  show = (): void => tell({ shown: true })
  hide = (): void => tell({ hidden: true })
  focus = (): void => undefined
  removeMenu = (): void => undefined
}

class App extends EventEmitter {
  readonly isPackaged = false
  enableSandbox = (): void => tell({ sandbox: true })
  setPath = (): void => undefined
  getPath = (): string => process.env.SERVICE_DATA_PATH ?? ''
  requestSingleInstanceLock = (): boolean => true
  whenReady = (): Promise<void> => Promise.resolve()
  exit = (status: number): void => process.exit(status)
  quit(): void {
    let held = false
    this.emit('before-quit', { preventDefault: () => (held = true) })
    if (!held) process.exit(0)
  }
}

export class Tray extends EventEmitter {
  setToolTip = (text: string): void => tell({ tray: text })
  setContextMenu = (menu: { label?: string; click?: () => void }[]): void => {
    trayEntries = menu
  }
}

const windows: BrowserWindow[] = []
const verbs = new Map<string, (event: { senderFrame: { url: string } }, ...args: unknown[]) => unknown>()
let trayEntries: { label?: string; click?: () => void }[] = []

export const app = new App()
export const Menu = { buildFromTemplate: (entries: object[]) => entries, setApplicationMenu: () => undefined }
export const ipcMain = {
  handle: (name: string, listener: typeof verbs extends Map<string, infer L> ? L : never) => void verbs.set(name, listener),
}
export const protocol = { registerSchemesAsPrivileged: () => undefined }
export const shell = { openExternal: async (url: string) => tell({ outside: url }) }
export const session = {
  fromPartition: (partition: string) => ({
    protocol: { handle: (scheme: string) => tell({ scheme, partition }) },
    setPermissionRequestHandler: () => undefined,
    setPermissionCheckHandler: () => undefined,
    webRequest: { onBeforeRequest: () => undefined },
    cookies: { set: async (cookie: object) => tell({ cookie }) },
  }),
}

export const utilityProcess = {
  fork(path: string, args: string[], { env }: { env: NodeJS.ProcessEnv }): ChildProcess & { postMessage(message: object): void } {
    const child = fork(path, args, { env, stdio: ['ignore', 'ignore', 'inherit', 'ipc'] })
    tell({ server: child.pid })
    return Object.assign(child, { postMessage: (message: object) => void (child.connected && child.send(message)) })
  },
}

interface Act {
  tray?: string
  close?: boolean
  verb?: string
  from?: string
  args?: unknown[]
}

process.on('message', async ({ tray, close, verb, from = '', args = [] }: Act) => {
  if (tray) trayEntries.find(({ label }) => label === tray)?.click?.()
  if (close) windows[0]?.emit('close', { preventDefault: () => undefined })
  if (!verb) return
  const call = async () => verbs.get(verb)?.({ senderFrame: { url: from } }, ...args)
  tell({ answer: await call().catch((error: Error) => error.message) })
})
