import { join } from 'node:path'
import { app, BrowserWindow, ipcMain, Menu, protocol, session, shell as system, Tray, utilityProcess } from 'electron'
import { APP_SCHEME, pageOfArguments } from './deep-link.ts'
import { LOCAL_SCHEME } from './guards.ts'
import { createLocalPages, RESET_PASSWORD_PAGE } from './local-pages.ts'
import { serverProcess } from './server-process.ts'
import { createServerRequests } from './server-requests.ts'
import { createShell, type Shell, type View } from './shell.ts'
import { signIn } from './sign-in.ts'
import { beOnlyInstance } from './single-instance.ts'
import { createSupervisor } from './supervisor.ts'
import { texts } from './texts.ts'
import { type MenuActs, trayMenu, windowMenu } from './tray.ts'
import { offerVerbs } from './verbs.ts'
import { guardContents, guardSession, PARTITION, windowOptions } from './window.ts'

const root = join(import.meta.dirname, '..', '..')
const resource = (name: string): string => join(root, 'resources', name)
const options = windowOptions({ preload: join(import.meta.dirname, 'preload.cjs'), icon: resource('icon.png') })

let quitting = false

function forkServer() {
  const env = { ...process.env, NODE_ENV: 'production' }
  return serverProcess(
    utilityProcess.fork(join(root, 'dist', 'server', 'server.js'), [], { env, serviceName: texts.name, stdio: 'inherit' }),
  )
}

/** Closing the window leaves the house running; the tray or a second start brings it back. */
function openView(): View {
  const window = new BrowserWindow(options)
  window.on('close', (event) => {
    if (quitting) return
    event.preventDefault()
    window.hide()
  })
  return {
    address: () => window.webContents.getURL(),
    load: (address) =>
      void window.loadURL(address).catch((error: unknown) => console.error(`The window could not load its page: ${String(error)}`)),
    show() {
      if (window.isMinimized()) window.restore()
      window.show()
      window.focus()
    },
  }
}

function openResetDialog(): void {
  const dialog = new BrowserWindow({ ...options, width: 460, height: 420, resizable: false, show: true })
  dialog.removeMenu()
  void dialog.loadURL(RESET_PASSWORD_PAGE)
}

function runShell(): Shell {
  const pages = session.fromPartition(PARTITION)
  pages.protocol.handle(LOCAL_SCHEME, createLocalPages(resource('desktop')))
  const origin = (): string | null => shell.origin()
  guardSession(pages, { origin })
  app.on('web-contents-created', (_event, contents) =>
    guardContents(contents, { origin, openOutside: (url) => void system.openExternal(url) }),
  )

  const view = openView()
  const tray = new Tray(resource('tray.png'))
  const supervisor = createSupervisor({
    fork: forkServer,
    onReply: (reply) => requests.settle(reply),
    onState(state) {
      shell.onState(state)
      tray.setToolTip(texts.status[state.kind])
      tray.setContextMenu(Menu.buildFromTemplate(trayMenu(state, acts)))
      Menu.setApplicationMenu(Menu.buildFromTemplate(windowMenu(state, acts, process.platform)))
    },
  })
  const requests = createServerRequests({ post: supervisor.post })
  const shell = createShell({
    view,
    signIn: (url) => signIn(url, { ticket: requests.ticket, cookies: pages.cookies }),
    onSignInFailed: (error) => console.error(String(error)),
  })
  const acts: MenuActs = {
    open: view.show,
    pause: () => void supervisor.stop(),
    resume: supervisor.start,
    resetPassword: openResetDialog,
    quit: () => app.quit(),
  }
  offerVerbs(ipcMain, { state: () => supervisor.state, resume: supervisor.start, quit: acts.quit, resetPassword: requests.resetPassword })
  tray.on('click', view.show)
  app.on('activate', view.show)
  app.on('before-quit', (event) => {
    if (quitting) return
    quitting = true
    event.preventDefault()
    void supervisor.stop().finally(() => app.exit(0))
  })
  supervisor.start()
  return shell
}

let wanted = pageOfArguments(process.argv)
let open = (page: string | null): void => {
  wanted = page ?? wanted
}

app.enableSandbox()
app.setPath('sessionData', join(app.getPath('userData'), 'window'))
protocol.registerSchemesAsPrivileged([{ scheme: LOCAL_SCHEME, privileges: { standard: true, secure: true } }])
if (beOnlyInstance(app, (page) => open(page))) {
  // On Windows the link comes as an argument: what follows `--` is never read as a switch.
  if (app.isPackaged) app.setAsDefaultProtocolClient(APP_SCHEME, process.execPath, process.platform === 'win32' ? ['--'] : [])
  // Not awaited: Electron is ready only once this module has run to its end.
  void app.whenReady().then(() => {
    open = runShell().open
    open(wanted)
  })
}
