import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The checkout's top folder. */
export const root = dirname(dirname(fileURLToPath(import.meta.url)))

/**
 * An absolute path inside the checkout.
 * @param {string[]} parts
 */
export const inRoot = (...parts) => join(root, ...parts)

/** A fault the reader can act on: printed as one line, without a stack. */
export class PlainFault extends Error {}
