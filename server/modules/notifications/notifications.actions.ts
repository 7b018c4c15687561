import { z } from 'zod'
import { type Action, action } from '../../kit/actions.ts'
import { mayCall } from '../../kit/caller.ts'
import { conflict, forbidden, invalid, notFound } from '../../kit/errors.ts'
import type { HouseholdService } from '../household/household.service.ts'
import { Level } from './notifications.contract.ts'
import type { NotificationsService, Target } from './notifications.service.ts'

const SendInput = z.strictObject({
  title: z.string().trim().min(1).max(200),
  body: z.string().max(4_000).default(''),
  target: z.string().max(100).default('all').describe('`phones`, `all`, or `person:<id>`.'),
  level: Level.default('info'),
})

/** What can be done with notifications. */
export function createNotificationActions({
  notifications,
  household,
}: {
  notifications: NotificationsService
  household: HouseholdService
}): Action[] {
  /** Throws 400 for what is no target, 404 for an unknown person. */
  function readTarget(text: string): { target: Target; who: string } {
    if (text === 'all') return { target: 'all', who: 'everyone' }
    if (text === 'phones') return { target: 'phones', who: 'all phones' }
    const personId = z.uuid().safeParse(/^person:(.*)$/.exec(text)?.[1]).data
    if (!personId) throw invalid([{ path: 'body.target', message: 'is none of phones, all, person:<id>' }])
    const person = household.person(personId)
    if (!person) throw notFound('This person')
    return { target: { personId }, who: person.displayName }
  }

  return [
    action({
      name: 'send_notification',
      description: 'Send a message to the devices of the household, to all phones, or to one person',
      input: SendInput,
      risk: 'low',
      async run({ target: text, ...message }, { caller }) {
        if (message.level === 'critical' && !mayCall('admin', caller))
          throw forbidden('Only an admin sends what passes quiet hours. Send it as a warning instead.')
        const { target, who } = readTarget(text)
        const items = await notifications.notify({ ...message, target })
        if (items.length === 0) throw conflict('no_device', `There is no paired device on which to reach ${who}.`)
        return { output: `I sent “${message.title}” to ${who}.`, data: { items } }
      },
    }),
  ]
}
