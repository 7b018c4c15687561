import { expect, test } from 'vitest'
import { startCallingModel } from '../support/calling-model.ts'
import { startHouse } from '../support/house.ts'

test('a host that answers is told beside the models of this computer', async () => {
  const model = await startCallingModel()
  await using house = await startHouse({ env: { SERVICE_LLM_BASE_URL: model.url } })
  try {
    const owner = await house.residentOwner()
    const host = async () => (await owner.api.models.overview()).host
    const address = new URL(model.url).host
    await expect.poll(host).toEqual({ address, isInUse: true, model: 'calling', status: 'ok' })
  } finally {
    await model.stop()
  }
})

test('without a host none is told', async () => {
  await using house = await startHouse()
  const owner = await house.residentOwner()
  expect((await owner.api.models.overview()).host).toBeNull()
})
