/** The native verbs, callable by the shell's own pages and by no other page. */
export const verbs = {
  status: 'hearth:status',
  resume: 'hearth:resume',
  quit: 'hearth:quit',
  resetPassword: 'hearth:reset-password',
} as const

/** What the status page shows, in words. */
export interface StatusView {
  title: string
  text: string
  /** The label of the one button, or null where there is only to wait. */
  act: string | null
  quit: string
}
