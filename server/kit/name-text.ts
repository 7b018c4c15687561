import { z } from 'zod'

const NO_NAME = /[\s\p{Cc}\u202a-\u202e\u2066-\u2069]+/gu

/** What people, devices and the like are called: one line without control characters, white space as single spaces, accents in one spelling; `most` is counted after that. */
export const nameText = (most: number, least = 1) =>
  z
    .string()
    .transform((text) => text.toWellFormed().normalize('NFC').replaceAll(NO_NAME, ' ').trim())
    .pipe(z.string().min(least).max(most))
