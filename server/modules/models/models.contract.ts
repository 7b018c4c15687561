import { z } from 'zod'
import { endpoint } from '../../kit/endpoint.ts'

export const LlmStatus = z
  .object({
    status: z.enum(['ok', 'loading', 'no_model', 'error']),
    models: z.array(z.string()).describe('Usable models by name, the active one first.'),
    detail: z.string().optional().describe('Why it cannot be used, in plain words.'),
  })
  .meta({ id: 'LlmStatus' })
export type LlmStatus = z.output<typeof LlmStatus>

export const modelsContract = {
  llm: endpoint({
    method: 'GET',
    path: '/api/llm',
    access: 'member',
    summary: 'Whether the language model can be used',
    returns: LlmStatus,
  }),
}
