import { once } from 'node:events'
import type { Call } from '../../kit/routes.ts'
import type { ChunksService } from './chunks.service.ts'

/** Writes everything remembered of a person as one JSON document, page by page. */
export async function exportPerson(chunks: ChunksService, personId: string, { caller, reply, signal }: Call<'member'>): Promise<void> {
  const person = chunks.person(caller, personId)
  reply.header('content-disposition', 'attachment; filename="memory.json"')
  const body = reply.open('application/json; charset=utf-8')
  body.write(`{"person":${JSON.stringify(person)},"exportedAt":${JSON.stringify(new Date().toISOString())},"chunks":[`)
  let isFirst = true
  for await (const page of chunks.exported(personId)) {
    if (signal.aborted) return
    const text = page.map((chunk) => JSON.stringify(chunk)).join(',\n')
    if (text === '') continue
    if (!body.write(`${isFirst ? '\n' : ',\n'}${text}`))
      await Promise.race([once(body, 'drain', { signal }), once(body, 'close')]).catch(() => undefined) // left meanwhile
    isFirst = false
  }
  body.end(']}')
}
