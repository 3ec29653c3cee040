import { EventEmitter } from 'node:events'
import type { Worker } from 'node:worker_threads'
import t from 'tap'
import { requireThread, ThreadFailure, ThreadModule } from '../../src/system/thread-module.ts'
import { isSettled } from '../helpers/processes/settled.ts'

t.test('a thread that cannot be started is named', async (t) => {
  const module = new ThreadModule<() => void>('x', import.meta.url)
  const start = () => module.start(() => {}, { name: 'plant-x' })
  t.throws(start, { constructor: ThreadFailure, message: /^cannot start the thread plant-x: / })
})

// Real threads throw these errors as uncaught exceptions.

t.test('a required thread that fails is named, once', async (t) => {
  const worker = new EventEmitter() as Worker
  requireThread(worker, 'plant-x')
  const cause = new Error('a defect')
  const failed = { constructor: ThreadFailure, message: 'the thread plant-x failed', cause }
  t.throws(() => worker.emit('error', cause), failed)
  t.doesNotThrow(() => worker.emit('exit', 1))
})

t.test('a required thread that ends is named', async (t) => {
  const worker = new EventEmitter() as Worker
  requireThread(worker, 'plant-x')
  const ended = { constructor: ThreadFailure, message: 'the thread plant-x ended unexpectedly' }
  t.throws(() => worker.emit('exit', 0), ended)
})

t.test('a required thread can end once that is allowed', async (t) => {
  const worker = new EventEmitter() as Worker
  const ended = requireThread(worker, 'plant-x')()
  t.notOk(await isSettled(ended))
  worker.emit('exit', 0)
  await ended
})
