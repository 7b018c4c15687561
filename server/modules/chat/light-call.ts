import type { ToolCall } from './chat.contract.ts'

/** Characters, as JSON. */
const MAX_CALL_DATA = 16_000

/** A call without data that would weigh down every later reading of its conversation. */
export function lightCall(call: ToolCall): ToolCall {
  if (call.data === undefined || JSON.stringify(call.data).length <= MAX_CALL_DATA) return call
  const { data: _, ...rest } = call
  return rest
}
