import { api } from '../api.ts'
import { ApiError, createClient } from '../kit/client.ts'
import { configOrEnd, end, openTerminal } from './terminal.ts'

/** Sets a running Hearth up from the terminal of its machine, for houses without a screen. */
const { env } = configOrEnd()
const base = `http://127.0.0.1:${env.SERVICE_PORT}`
const client = createClient(api, (path, init) =>
  fetch(base + path, init).catch((): never => {
    throw new ApiError(0, { error: `No Hearth answers at ${base}. Start it first.` })
  }),
)

try {
  if (!(await client.setup.state()).required) end('This Hearth is set up already.', 0)
  const { ask } = openTerminal()
  const pin = await ask('Setup PIN (printed where Hearth was started): ')
  const name = await ask('Your name: ')
  const password = await ask('A password of at least 10 characters: ', { hidden: true })
  const displayName = (await ask('Name of the household [Home]: ')) || 'Home'
  const { timeZone, locale } = new Intl.DateTimeFormat().resolvedOptions()
  const { user } = await client.setup.complete({
    body: { pin, owner: { name, password }, household: { displayName, timezone: timeZone, locale } },
  })
  end(`Welcome, ${user.name}. Hearth is set up; open ${base} and sign in.`, 0)
} catch (error) {
  if (!(error instanceof ApiError)) throw error
  end(error.message, 1)
}
