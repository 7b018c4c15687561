import { constants } from 'node:os'

/** A second signal of the same kind within this time is the same one, arriving by another way. */
const SAME_SIGNAL_MS = 250
const LOOK_FOR_PARENT_MS = 250

/** @type {NodeJS.Signals[]} */
const PASSED_ON = ['SIGINT', 'SIGTERM', 'SIGHUP']

/** @typedef {import('node:child_process').ChildProcess} ChildProcess */

/** Thrown in place of the next step once this process was told to stop. */
export class Interrupted extends Error {
  /** @param {NodeJS.Signals} signal */
  constructor(signal) {
    super(signal)
    this.status = 128 + constants.signals[signal]
  }
}

/** @type {Set<ChildProcess>} */
const children = new Set()
/** @type {{ signal: NodeJS.Signals, at: number } | null} */
let last = null

/** @param {NodeJS.Signals} signal */
function pass(signal) {
  const repeated = last?.signal === signal && Date.now() - last.at < SAME_SIGNAL_MS
  last = { signal, at: Date.now() }
  if (children.size === 0) process.exit(new Interrupted(signal).status)
  // A terminal gives Ctrl-C to every process of the group, the children included.
  if (repeated || (signal === 'SIGINT' && process.stdin.isTTY)) return
  for (const child of children) child.kill(signal)
}

/** npm passes SIGTERM to the shell between it and this process, which dies of it without a word: a lost parent counts as the signal. */
function watchParent() {
  if (!process.env.npm_lifecycle_event) return
  const parent = process.ppid
  const timer = setInterval(() => {
    if (process.ppid === parent) return
    clearInterval(timer)
    if (!last) pass('SIGTERM')
  }, LOOK_FOR_PARENT_MS)
  timer.unref()
}

/** From here on the children decide how to stop: signals are passed to them, and this process waits. */
export function passSignals() {
  for (const signal of PASSED_ON) process.on(signal, pass)
  watchParent()
}

/** Throws {@link Interrupted} once this process was told to stop. */
export function stopIfTold() {
  if (last) throw new Interrupted(last.signal)
}

/**
 * Starts a child that hears the signals this process gets, unless it was told to stop already.
 * @param {() => ChildProcess} start
 * @returns {{ child: ChildProcess, exited: Promise<number> }} resolving to the exit status
 */
export function startChild(start) {
  stopIfTold()
  const child = start()
  children.add(child)
  /** @type {Promise<number>} */
  const exited = new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code, signal) => resolve(code ?? 128 + (signal ? constants.signals[signal] : 0)))
  })
  return { child, exited: exited.finally(() => children.delete(child)) }
}
