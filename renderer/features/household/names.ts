import type { Person } from '../../../server/modules/household/household.contract.ts'

/** Names between commas, each once. */
export const splitNames = (text: string): string[] => [
  ...new Map(
    text
      .split(/[,;、،]/)
      .map((name) => name.trim().replaceAll(/\s+/g, ' '))
      .filter((name) => name !== '')
      .map((name) => [name.toLowerCase(), name]),
  ).values(),
]

/** Whether somebody else already has that name, as the server compares names. */
export const nameTaken = (name: string, persons: Person[], own?: Person): boolean =>
  persons.some(({ id, displayName }) => id !== own?.id && displayName.trim().toLowerCase() === name.trim().toLowerCase())
