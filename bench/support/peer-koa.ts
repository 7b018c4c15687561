import Router from '@koa/router'
import Koa from 'koa'
import { statusBody } from './status-body.ts'

const app = new Koa()
const router = new Router()
for (let n = 0; n < 90; n++) {
  router.get(`/api/other-${n}/:id`, (ctx) => {
    ctx.body = statusBody()
  })
}
router.get('/api/status', (ctx) => {
  ctx.body = statusBody()
})
app.use(router.routes())
const server = app.listen(0, '127.0.0.1', () => {
  const address = server.address()
  process.stdout.write(`peer on ${typeof address === 'object' ? address?.port : ''}\n`)
})
