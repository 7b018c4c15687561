import { chatMessages } from '../features/chat/chat.messages.ts'
import { shellMessages } from '../shell/shell.messages.ts'
import { uiMessages } from '../ui/ui.messages.ts'

/** Every text of the window. Each feature keeps its own file; this one only gathers them. */
export const en = {
  ...uiMessages,
  ...shellMessages,
  ...chatMessages,
}
