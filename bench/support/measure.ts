import { readFileSync } from 'node:fs'

export const median = (values: number[]): number => {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = sorted.length >> 1
  return sorted.length % 2 === 1 ? (sorted[middle] ?? Number.NaN) : ((sorted[middle - 1] ?? 0) + (sorted[middle] ?? 0)) / 2
}

export const percentile = (values: number[], share: number): number =>
  values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * share))] ?? Number.NaN

/** CPU time that a process has used, in microseconds (clock ticks of 10 ms); NaN where the system has no /proc. */
export function cpuMicros(pid: number): number {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
    return (Number(fields[11]) + Number(fields[12])) * 10_000
  } catch {
    return Number.NaN
  }
}

/** Resident memory of a process in MB. */
export const residentMb = (pid: number): number => Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024

/** Runs every contender in turn, `rounds` times over, so that what disturbs the machine disturbs all of them. */
export async function interleave<Name extends string, T>(
  rounds: number,
  contenders: Record<Name, () => Promise<T>>,
): Promise<Record<Name, T[]>> {
  const names = Object.keys(contenders) as Name[]
  const results = Object.fromEntries(names.map((name) => [name, [] as T[]])) as Record<Name, T[]>
  for (let round = 0; round < rounds; round++) for (const name of names) results[name].push(await contenders[name]())
  return results
}

/** One line of a report: what was measured, what came out, what was aimed at. */
export function report(what: string, value: number, aim: string): void {
  process.stdout.write(`${what.padEnd(72)} ${value.toFixed(value < 1 ? 3 : value < 10 ? 2 : 0).padStart(8)}   aim ${aim}\n`)
}
