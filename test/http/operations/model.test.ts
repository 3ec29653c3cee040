import t from 'tap'
import { startService } from '../../helpers/service.ts'
import { compareWithModel } from './model-comparison.ts'

t.test('the service responds to sequences of operations like the model', async (t) => {
  await compareWithModel(await startService(t), 60)
})
