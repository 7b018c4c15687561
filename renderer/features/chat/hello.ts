import type { LlmStatus } from '../../../server/modules/models/models.contract.ts'
import type { PlainKey } from '../../messages/messages.ts'

/** Whether the language model can answer; `unknown` to those who may not ask, or where no answer came. */
export type AssistantStatus = LlmStatus['status'] | 'unknown'

/** A greeting for the hour of the reader's day, 0 to 23. */
export function greetingAt(hour: number): PlainKey {
  if (hour < 5) return 'chat.hello.night'
  if (hour < 12) return 'chat.hello.morning'
  return hour < 18 ? 'chat.hello.day' : 'chat.hello.evening'
}

/** What to expect of the assistant as things stand. */
export function leadFor(status: AssistantStatus): PlainKey {
  const leads: Partial<Record<AssistantStatus, PlainKey>> = {
    no_model: 'chat.noModelLead',
    loading: 'chat.loadingLead',
    error: 'chat.modelErrorLead',
  }
  return leads[status] ?? 'chat.helloLead'
}

/** Things to say that get a good answer as things stand: `label` is shown, `text` is said. */
export function examplesFor(status: AssistantStatus): { label: PlainKey; text: PlainKey }[] {
  if (status === 'no_model') {
    const keys: PlainKey[] = ['chat.example.can', 'chat.example.remember', 'chat.example.list', 'chat.example.timer']
    return keys.map((key) => ({ label: key, text: key }))
  }
  return [
    { label: 'chat.example.dinner', text: 'chat.example.dinnerText' },
    { label: 'chat.example.explain', text: 'chat.example.explainText' },
    { label: 'chat.example.note', text: 'chat.example.noteText' },
  ]
}
