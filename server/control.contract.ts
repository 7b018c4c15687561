import { z } from 'zod'

/** Server process to the desktop shell. */
export const ServerMessage = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('ready'), url: z.url(), setupPin: z.string().nullable().describe('Set while this Hearth is not set up.') }),
  z.object({ kind: z.literal('setup-pin'), pin: z.string().nullable().describe('A new PIN, or null once set up.') }),
  z.object({ kind: z.literal('fatal'), reason: z.string().describe('Why it cannot start, in a sentence; restarting will not help.') }),
  z.object({ kind: z.literal('ticket'), id: z.string(), ticket: z.string() }),
  z.object({ kind: z.literal('password-reset'), id: z.string(), error: z.string().nullable() }),
])
export type ServerMessage = z.output<typeof ServerMessage>

/** Desktop shell to server process. */
export const ShellMessage = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('stop') }),
  z.object({ kind: z.literal('ticket'), id: z.string() }),
  z.object({ kind: z.literal('reset-password'), id: z.string(), password: z.string() }),
])
export type ShellMessage = z.output<typeof ShellMessage>
