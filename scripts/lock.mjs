import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { setTimeout as wait } from 'node:timers/promises'
import { inRoot } from './project.mjs'

const LOOK_AGAIN_MS = 250

/** @param {number} pid */
function isAlive(pid) {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return /** @type {NodeJS.ErrnoException} */ (error).code === 'EPERM'
  }
}

/** @param {string} path */
function take(path) {
  try {
    writeFileSync(path, String(process.pid), { flag: 'wx' })
    return true
  } catch (error) {
    if (/** @type {NodeJS.ErrnoException} */ (error).code !== 'EEXIST') throw error
    return false
  }
}

/** @param {string} path */
function holder(path) {
  try {
    return Number(readFileSync(path, 'utf8'))
  } catch (error) {
    if (/** @type {NodeJS.ErrnoException} */ (error).code !== 'ENOENT') throw error
    return 0
  }
}

/**
 * Does the work while no other launcher of this checkout does the same; the lock of a process that died is taken over.
 * @template T
 * @param {string} name
 * @param {() => Promise<T>} work
 * @returns {Promise<T>}
 */
export async function withLock(name, work) {
  mkdirSync(inRoot('.cache'), { recursive: true })
  const path = inRoot('.cache', `${name}.lock`)
  for (let told = false; !take(path); told = true) {
    if (!told) console.log(`Another start is busy with the ${name}; waiting for it.`)
    await wait(LOOK_AGAIN_MS)
    const pid = holder(path)
    if (pid > 0 && !isAlive(pid)) rmSync(path, { force: true })
  }
  try {
    return await work()
  } finally {
    rmSync(path, { force: true })
  }
}
