import type { Socket } from 'node:net'
import { openRaw } from './raw-http.ts'

export interface RawSocket {
  socket: Socket
  /** The code with which the server closed; null where the connection ended without one. */
  code: Promise<number | null>
}

/** A socket after its upgrade, to write bytes by hand that no client would. */
export async function rawSocket(url: string, token: string): Promise<RawSocket> {
  const socket = await openRaw(url)
  const key = ['Sec-WebSocket-Version: 13', 'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==']
  const lines = [`GET /ws?token=${token} HTTP/1.1`, `Host: ${new URL(url).host}`, 'Connection: Upgrade', 'Upgrade: websocket', ...key]
  socket.write(`${lines.join('\r\n')}\r\n\r\n`)
  let rest: Buffer = Buffer.alloc(0)
  while (!rest.includes('\r\n\r\n')) rest = Buffer.concat([rest, await new Promise<Buffer>((resolve) => socket.once('data', resolve))])
  if (!rest.toString('latin1').startsWith('HTTP/1.1 101 ')) throw new Error(`The server did not upgrade: ${rest}`)
  rest = rest.subarray(rest.indexOf('\r\n\r\n') + 4)
  const code = new Promise<number | null>((resolve) => {
    socket.on('data', (chunk: Buffer) => {
      rest = afterFrames(Buffer.concat([rest, chunk]), resolve)
    })
    socket.once('close', () => resolve(null))
  })
  return { socket, code }
}

/** Reads the server's frames, all of which are short and unmasked, and tells the code of one that closes; what is left is half a frame. */
function afterFrames(bytes: Buffer, closes: (code: number) => void): Buffer {
  let at = 0
  while (at + 4 <= bytes.length) {
    const short = (bytes[at + 1] ?? 0) & 0x7f
    const start = short === 126 ? at + 4 : at + 2
    const end = start + (short === 126 ? bytes.readUInt16BE(at + 2) : short)
    if (end > bytes.length) break
    if (((bytes[at] ?? 0) & 0x0f) === 8) closes(bytes.readUInt16BE(start))
    at = end
  }
  return bytes.subarray(at)
}

/** A frame by its first byte, up to 64 KiB; masked with zeros unless told otherwise. */
export function frame(first: number, payload: Buffer | string = '', masked = true): Buffer {
  const body = Buffer.from(payload)
  const flag = masked ? 0x80 : 0
  const length = body.length < 126 ? [flag | body.length] : [flag | 126, body.length >> 8, body.length & 0xff]
  return Buffer.concat([Buffer.from([first, ...length]), masked ? Buffer.alloc(4) : Buffer.alloc(0), body])
}
