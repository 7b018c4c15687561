import { type Topic, topic } from './kit/topic.ts'
import { actionRan } from './modules/actions/actions.contract.ts'
import { calendarChanged } from './modules/calendar/calendar.contract.ts'
import { householdChanged } from './modules/household/household.contract.ts'
import { toolServersChanged } from './modules/mcp/mcp.contract.ts'
import { memoryIndexed } from './modules/memory/memory.contract.ts'
import { modelDownloaded, modelsChanged } from './modules/models/models.contract.ts'
import { notificationChanged } from './modules/notifications/notifications.contract.ts'
import { pairingChanged } from './modules/paired-devices/paired-devices.contract.ts'
import { timerChanged } from './modules/timers/timers.contract.ts'
import { todoChanged } from './modules/todos/todos.contract.ts'

/** Everything that clients may subscribe to. */
export const topics: readonly Topic[] = [
  topic({
    event: notificationChanged,
    access: 'guest',
    summary: 'A notification was made or its status changed; one’s own, for admins everybody’s.',
    concerns: ({ deviceId }, caller) => caller.scope === 'admin' || caller.deviceId === deviceId,
  }),
  topic({ event: householdChanged, access: 'member', summary: 'The household or its people changed.' }),
  topic({ event: calendarChanged, access: 'member', summary: 'Something in the calendar changed.' }),
  topic({ event: todoChanged, access: 'member', summary: 'A to-do was added, changed, completed or deleted.' }),
  topic({ event: timerChanged, access: 'member', summary: 'A timer was set, changed, cancelled or rang.' }),
  topic({ event: memoryIndexed, access: 'member', summary: 'How far the index of memory is.' }),
  topic({ event: pairingChanged, access: 'admin', summary: 'A device was let in, changed or revoked, or came or went.' }),
  topic({ event: modelsChanged, access: 'admin', summary: 'A model was put in or deleted, or another one serves.' }),
  topic({ event: actionRan, access: 'admin', summary: 'An action ended.' }),
  topic({ event: toolServersChanged, access: 'admin', summary: 'A tool server was changed, came or went, or has other tools.' }),
  topic({ event: modelDownloaded, access: 'admin', summary: 'A download of a model began, went on, stopped or ended.' }),
]
