import { connect, type Socket } from 'node:net'

export interface RawAnswer {
  /** Null where nothing came that looks like HTTP. */
  status: number | null
  text: string
  /** The server ended the connection. */
  closed: boolean
}

/** Opens a TCP connection to the server at `url`. */
export function openRaw(url: string): Promise<Socket> {
  const { hostname, port } = new URL(url)
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname)
    socket.once('error', reject)
    socket.once('connect', () => {
      socket.off('error', reject)
      // A reset by the server is an answer too; what came before it is what counts.
      socket.on('error', () => socket.destroy())
      resolve(socket)
    })
  })
}

/** Writes bytes as they stand, for requests no client would send, and reads until the server closes or `waitMs` have passed. */
export async function exchange(url: string, bytes: string | Buffer, waitMs = 1_500): Promise<RawAnswer> {
  const socket = await openRaw(url)
  const chunks: Buffer[] = []
  socket.on('data', (chunk: Buffer) => chunks.push(chunk))
  socket.write(bytes)
  const closed = await new Promise<boolean>((resolve) => {
    const timer = setTimeout(() => resolve(false), waitMs)
    socket.once('close', () => {
      clearTimeout(timer)
      resolve(true)
    })
  })
  socket.destroy()
  const text = Buffer.concat(chunks).toString('latin1')
  const status = /^HTTP\/1\.1 (\d{3})/.exec(text)?.[1]
  return { status: status ? Number(status) : null, text, closed }
}

/** A request of these header lines, ready for {@link exchange}; asks the server to close afterwards. */
export const rawRequest = (line: string, headers: string[], body = ''): string =>
  `${[line, ...headers, 'Connection: close'].join('\r\n')}\r\n\r\n${body}`
