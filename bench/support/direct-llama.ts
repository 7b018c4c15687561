import { type ChatHistoryItem, getLlama, LlamaChatSession, LlamaLogLevel } from 'node-llama-cpp'
import type { StreamReply } from './reply-speed.ts'

/** The library as its manual uses it: one sequence, one session, in this process. */
export async function directLlama(
  modelPath: string,
  threads: number,
  temperature = 0,
): Promise<{ stream: StreamReply; stop(): Promise<void> }> {
  const llama = await getLlama({ gpu: false, build: 'never', progressLogs: false, maxThreads: 0, logLevel: LlamaLogLevel.error })
  const model = await llama.loadModel({ modelPath })
  const context = await model.createContext({ contextSize: 4096, threads })
  const sequence = context.getSequence()
  const session = new LlamaChatSession({ contextSequence: sequence })
  const stream: StreamReply = async ({ messages, signal, onText }) => {
    const history = messages
      .slice(0, -1)
      .map(
        ({ role, content }): ChatHistoryItem =>
          role === 'assistant' ? { type: 'model', response: [content] } : { type: role, text: content },
      )
    session.setChatHistory(history)
    const text = await session.prompt(messages.at(-1)?.content ?? '', {
      temperature,
      signal,
      stopOnAbortSignal: true,
      onTextChunk: (piece) => piece !== '' && onText(piece),
    })
    return { text }
  }
  return { stream, stop: () => llama.dispose() }
}
