/** The name of an action as a person would write it: `mcp.tools.add_todo` becomes "Add todo". */
export function actionWords(name: string): string {
  const words = (name.split('.').at(-1) ?? name).replaceAll(/[_-]+/g, ' ').trim() || name
  return words[0]?.toLocaleUpperCase() + words.slice(1)
}

/** The parameters of a call as lines of a list; what is nested is written as JSON. */
export function callDetails(params: unknown): [name: string, value: string][] {
  if (typeof params !== 'object' || params === null) return []
  return Object.entries(params)
    .filter(([, value]) => value !== null && value !== undefined)
    .map(([name, value]) => [actionWords(name), typeof value === 'string' ? value : JSON.stringify(value)])
}
