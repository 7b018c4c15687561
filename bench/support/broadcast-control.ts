import { createServer, type Server } from 'node:http'
import { setImmediate as turn, setTimeout as wait } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

/**
 * Lets the bench say over HTTP what is broadcast: `/publish?topic=&count=&bytes=&pauseMs=` answers when all is handed over, `/collect`
 * after the garbage is gone. Every message carries when it was published, at a fixed width.
 */
export function serveBroadcasts(publish: (topic: string, payload: unknown) => void): Server {
  const server = createServer(async (req, res) => {
    const { pathname, searchParams } = new URL(req.url ?? '/', 'http://bench')
    if (pathname === '/collect') {
      collect()
      await wait(100)
      collect()
      return res.end()
    }
    const of = (name: string) => Number(searchParams.get(name))
    const text = 'x'.repeat(of('bytes'))
    for (let n = 0; n < of('count'); n++) {
      publish(searchParams.get('topic') ?? '', { at: (performance.timeOrigin + performance.now()).toFixed(3), text })
      await (of('pauseMs') ? wait(of('pauseMs')) : turn())
    }
    res.end()
  })
  return server.listen(0, '127.0.0.1', () => {
    const address = server.address()
    process.stdout.write(`peer on ${typeof address === 'object' ? address?.port : ''}\n`)
  })
}
