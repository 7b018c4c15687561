/** Where the names of all foreign tools begin. */
export const FOREIGN_PREFIX = 'mcp.'

const MAX_NAME = 200

/** The action's name of a tool of a server: letters, digits, `_`, `-` and `.`, none that `taken` has. */
export function toolName(server: string, tool: string, taken: Pick<ReadonlySet<string>, 'has'>): string {
  const whole = `${FOREIGN_PREFIX}${server}.${tool.replaceAll(/[^A-Za-z0-9_.-]/g, '_') || 'tool'}`
  for (let count = 1; ; count += 1) {
    const ending = count === 1 ? '' : `_${count}`
    const name = whole.slice(0, MAX_NAME - ending.length) + ending
    if (!taken.has(name)) return name
  }
}
