import t from 'tap'
import { startThreads } from '../helpers/threads.ts'
import { compareWithModel } from '../http/operations/model-comparison.ts'

// Each request is on a new connection, so any thread can serve it.
t.test('several threads respond to sequences of operations like the model', async (t) => {
  await compareWithModel(await startThreads(t), 20)
})
