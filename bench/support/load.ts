import { Agent, request } from 'node:http'
import { cpuMicros } from './measure.ts'

export interface Load {
  /** Requests a second. */
  rate: number
  /** Server CPU microseconds for each. */
  cpu: number
  /** Latency of each request in ms. */
  latencies: number[]
}

export interface LoadOptions {
  url: string
  pid: number
  connections: number
  ms: number
  method?: string
  headers?: Record<string, string>
  body?: (n: number) => string
}

/** Keeps `connections` requests under way for `ms`; fails at the first answer that is no success. */
export async function load({ url, pid, connections, ms, method = 'GET', headers = {}, body }: LoadOptions): Promise<Load> {
  const agent = new Agent({ keepAlive: true, maxSockets: connections })
  const latencies: number[] = []
  const cpuBefore = cpuMicros(pid)
  const startedAt = performance.now()

  const one = (n: number) =>
    new Promise<void>((resolve, reject) => {
      const sentAt = performance.now()
      const content = body?.(n)
      const outgoing = request(
        url,
        {
          agent,
          method,
          headers: { ...headers, ...(content && { 'content-type': 'application/json', 'content-length': Buffer.byteLength(content) }) },
        },
        (incoming) => {
          incoming.resume()
          incoming.once('end', () => {
            latencies.push(performance.now() - sentAt)
            if ((incoming.statusCode ?? 500) < 300) resolve()
            else reject(new Error(`${method} ${url} answered ${incoming.statusCode}`))
          })
        },
      )
      outgoing.once('error', reject)
      outgoing.end(content)
    })

  let sent = 0
  const worker = async () => {
    while (performance.now() - startedAt < ms) await one(sent++)
  }
  await Promise.all(Array.from({ length: connections }, worker))
  const seconds = (performance.now() - startedAt) / 1000
  agent.destroy()
  return { rate: latencies.length / seconds, cpu: (cpuMicros(pid) - cpuBefore) / latencies.length, latencies }
}
