import { actionsMessages } from '../features/actions/actions.messages.ts'
import { calendarMessages } from '../features/calendar/calendar.messages.ts'
import { chatMessages } from '../features/chat/chat.messages.ts'
import { docsMessages } from '../features/docs/docs.messages.ts'
import { homeMessages } from '../features/home/home.messages.ts'
import { householdMessages } from '../features/household/household.messages.ts'
import { memoryMessages } from '../features/memory/memory.messages.ts'
import { modelsMessages } from '../features/models/models.messages.ts'
import { notificationsMessages } from '../features/notifications/notifications.messages.ts'
import { pairMessages } from '../features/pair/pair.messages.ts'
import { pairedDevicesMessages } from '../features/paired-devices/paired-devices.messages.ts'
import { settingsMessages } from '../features/settings/settings.messages.ts'
import { setupMessages } from '../features/setup/setup.messages.ts'
import { signInMessages } from '../features/sign-in/sign-in.messages.ts'
import { timersMessages } from '../features/timers/timers.messages.ts'
import { todosMessages } from '../features/todos/todos.messages.ts'
import { trustMessages } from '../features/trust/trust.messages.ts'
import { shellMessages } from '../shell/shell.messages.ts'
import { uiMessages } from '../ui/ui.messages.ts'

/** Every text of the window. Each feature keeps its own file; this one only gathers them. */
export const en = {
  ...uiMessages,
  ...shellMessages,
  ...setupMessages,
  ...signInMessages,
  ...homeMessages,
  ...chatMessages,
  ...calendarMessages,
  ...todosMessages,
  ...timersMessages,
  ...householdMessages,
  ...actionsMessages,
  ...memoryMessages,
  ...modelsMessages,
  ...notificationsMessages,
  ...pairedDevicesMessages,
  ...pairMessages,
  ...settingsMessages,
  ...docsMessages,
  ...trustMessages,
}
