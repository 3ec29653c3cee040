import t from 'tap'
import { nursery } from '../../helpers/plants/nursery.ts'
import { startService } from '../../helpers/service/service.ts'
import { compareWithModel } from './model-comparison.ts'

t.test('the service responds to sequences of operations like the model', async (t) => {
  await compareWithModel(await startService(t), 60)
})

t.test('the service responds like the model with own fields', async (t) => {
  await compareWithModel(await startService(t, { fields: nursery }), 30, true)
})
