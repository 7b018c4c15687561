import { z } from 'zod'
import { endpoint } from '../../kit/endpoint.ts'
import { clientMessage } from '../../kit/socket-message.ts'
import { PushRegistration } from '../paired-devices/push-registration.contract.ts'

export const pushContract = {
  vapid: endpoint({
    method: 'GET',
    path: '/api/push/vapid',
    access: 'guest',
    summary: 'The key with which a browser subscribes to Web Push',
    returns: z.object({ publicKey: z.string().describe('`applicationServerKey`, in base64url.') }),
  }),
}

/** A device says how it is reached while it is not connected. */
export const pushRegister = clientMessage({
  type: 'push.register',
  payload: PushRegistration,
  access: 'guest',
  summary: 'Says how this device is reached while it is not connected; the newest counts.',
})
