import fastify from 'fastify'
import { statusBody } from './status-body.ts'

const app = fastify()
for (let n = 0; n < 90; n++) app.get(`/api/other-${n}/:id`, async () => statusBody())
app.get('/api/status', async () => statusBody())
await app.listen({ port: 0, host: '127.0.0.1' })
const address = app.server.address()
process.stdout.write(`peer on ${typeof address === 'object' ? address?.port : ''}\n`)
