import { once } from 'node:events'
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import t from 'tap'
import { inMemory, makeFolder } from '../../../../tools/tap/temporary-folders.ts'
import { runs } from '../../../helpers/plants/runs.ts'
import type { Work } from './open-in-thread.ts'

const script = new URL('./open-in-thread.ts', import.meta.url)

t.test('several threads can create a database concurrently', async (t) => {
  const folder = makeFolder(t, inMemory())
  const files = Array.from({ length: runs(100) }, (_, index) => join(folder, `${index}.db`))
  const threads = 3
  const ready = new Int32Array(new SharedArrayBuffer(4))
  const outcomes = Array.from({ length: threads }, async () => {
    const thread = new Worker(script, { workerData: { files, threads, ready } satisfies Work })
    return (await once(thread, 'message')).flat()
  })
  t.same([...new Set((await Promise.all(outcomes)).flat())], ['opened'])
  t.same([...new Set(files.map((file) => statSync(file).mode & 0o777))], [0o600])
})
