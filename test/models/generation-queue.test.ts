import { describe, expect, test } from 'vitest'
import { createGenerationQueue } from '../../server/modules/models/generation-queue.ts'

const never = new AbortController().signal
const settled = () => new Promise((resolve) => setTimeout(resolve))

/** Work that notes when it begins and ends when told to. */
function workshop(atOnce: number, mayWait: number) {
  const queue = createGenerationQueue({ atOnce, mayWait })
  const begun: string[] = []
  const ends = new Map<string, () => void>()
  const submit = (key: string, name: string, signal = never) =>
    queue.run(key, signal, () => {
      begun.push(name)
      return new Promise<string>((resolve) => ends.set(name, () => resolve(name)))
    })
  const end = async (name: string) => {
    ends.get(name)?.()
    await settled()
  }
  return { queue, begun, submit, end }
}

describe('generation queue', () => {
  test('runs as many at once as it may', async () => {
    const { queue, begun, submit, end } = workshop(2, 10)
    const all = ['a', 'b', 'c'].map((name) => submit('ada', name))
    await settled()
    expect(begun).toEqual(['a', 'b'])
    expect(queue.counts()).toEqual({ running: 2, waiting: 1 })
    for (const name of ['a', 'b', 'c']) await end(name)
    expect(await Promise.all(all)).toEqual(['a', 'b', 'c'])
    expect(queue.counts()).toEqual({ running: 0, waiting: 0 })
  })

  test('lets those who ask take turns, and keeps the order of each', async () => {
    const { begun, submit, end } = workshop(1, 10)
    for (const name of ['a1', 'a2', 'a3', 'a4']) void submit('ada', name)
    for (const name of ['b1', 'b2']) void submit('ben', name)
    void submit('cleo', 'c1')
    for (const name of ['a1', 'a2', 'b1', 'c1', 'a3', 'b2', 'a4']) {
      await settled()
      expect(begun.at(-1)).toBe(name)
      await end(name)
    }
  })

  test('serves 50 from five people through one slot, nobody twice before everybody once', async () => {
    const { begun, submit, end } = workshop(1, 49)
    const people = ['p0', 'p1', 'p2', 'p3', 'p4']
    for (let index = 0; index < 50; index++) void submit(people[Math.floor(index / 10)]!, `${people[Math.floor(index / 10)]}#${index}`)
    for (let index = 0; index < 50; index++) await end(begun.at(-1)!)
    const rounds = Array.from({ length: 9 }, (_, round) => begun.slice(1 + round * 5, 6 + round * 5).map((name) => name.slice(0, 2)))
    for (const round of rounds) expect(new Set(round).size).toBe(5)
  })

  test('refuses with a time to come back when too many wait', async () => {
    const { begun, submit, end } = workshop(1, 2)
    const waiting = ['a', 'b', 'c'].map((name) => submit('ada', name))
    await expect(submit('ben', 'd')).rejects.toMatchObject({ status: 503, code: 'busy', headers: { 'retry-after': '5' } })
    for (const name of ['a', 'b', 'c']) await end(name)
    await Promise.all(waiting)
    expect(begun).toEqual(['a', 'b', 'c'])
  })

  test('lets one who waits leave at once, and gives the place to the next', async () => {
    const { queue, begun, submit, end } = workshop(1, 2)
    const leave = new AbortController()
    const first = submit('ada', 'a')
    const left = submit('ben', 'b', leave.signal)
    const stays = submit('ben', 'c')
    leave.abort(new Error('left'))
    await expect(left).rejects.toThrow('left')
    expect(queue.counts()).toEqual({ running: 1, waiting: 1 })
    await end('a')
    await end('c')
    await Promise.all([first, stays])
    expect(begun).toEqual(['a', 'c'])
    await expect(submit('ada', 'd', AbortSignal.abort(new Error('gone')))).rejects.toThrow('gone')
  })

  test('goes on after work that fails', async () => {
    const queue = createGenerationQueue({ atOnce: 1, mayWait: 1 })
    const failing = queue.run('ada', never, () => Promise.reject(new Error('broken')))
    const next = queue.run('ada', never, async () => 'fine')
    await expect(failing).rejects.toThrow('broken')
    expect(await next).toBe('fine')
  })
})
