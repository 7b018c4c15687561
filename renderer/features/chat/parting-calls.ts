import { createClient } from '../../../server/kit/client.ts'
import { chatContract } from '../../../server/modules/chat/chat.contract.ts'
import type { HearthClient } from '../../api.ts'

/** Chat calls that the browser carries out even if the page that makes them goes away meanwhile. */
export function createPartingCalls(): HearthClient['chat'] {
  const { chat } = createClient({ chat: chatContract }, (path, init) => {
    const headers = new Headers(init.headers)
    headers.set('X-Hearth-Request', '1')
    return fetch(path, { ...init, headers, credentials: 'same-origin', keepalive: true })
  })
  return chat
}
