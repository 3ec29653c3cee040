/** No change is acknowledged before it is on disk, according to the system calls. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import t, { type Test } from 'tap'
import { MAIN, withoutTap } from '../helpers/processes/command.ts'
import { answeredTooEarly, answeredUnsynced, type Call, readTrace, TRACED } from './trace.ts'

const TOKEN = 'a-token-for-the-test'
const BATCH_SIZE = 40

const traces = spawnSync('strace', ['-D', '-o', '/dev/null', ...TRACED, 'true']).status === 0
const skip = !traces && 'strace is missing or not permitted to trace'

t.test('changes are on disk before they are acknowledged', { skip }, async (t) => {
  const { url, stop } = await startTraced(t)
  const change = (method: string, path: string, body?: object) => send(url, method, path, body)

  await change('POST', '/plants', { id: 1, name: 'created alone' })
  await change('PUT', '/plants/1', { name: 'replaced alone' })
  await change('PATCH', '/plants/1', { tag: 'patched alone' })
  await change('POST', '/plants/batch', [
    { id: 2, name: 'created in a batch' },
    { id: 3, name: 'created in a batch' },
  ])
  await change('DELETE', '/plants/1')

  // Ids of the same length, so that no marker contains another.
  const numbers = Array.from({ length: BATCH_SIZE }, (_, index) => 100 + index)
  const together = (name: string, make: (id: number) => Promise<void>) =>
    Promise.all(numbers.map(make)).then(() => numbers.map((id) => `${name} ${id}`))
  const created = await together('created', (id) =>
    change('POST', '/plants', { id, name: `created ${id}` }),
  )
  const patched = await together('patched', (id) =>
    change('PATCH', `/plants/${id}`, { name: `patched ${id}` }),
  )
  const calls = await stop()

  const markers = [...created, ...patched]
  const alone = calls.slice(0, calls.findIndex(({ data }) => data.includes(' 204 ')) + 1)
  t.same(answeredTooEarly(calls, markers), [])
  t.same(answeredUnsynced(alone), { answers: 5, early: [] })

  const syncs: Record<string, (call: Call) => Call[]> = {
    'that is missing': () => [],
    'that begins too early': (call) => [{ ...call, begin: 0 }],
    'that does not end in time': (call) => [{ ...call, end: Number.POSITIVE_INFINITY }],
    'of another file': (call) => [{ ...call, file: 'plants.db' }],
  }
  for (const [how, make] of Object.entries(syncs)) {
    t.test(`the test detects a sync ${how}`, async (t) => {
      const broken = (calls: Call[]) =>
        calls.flatMap((call) => (call.name.includes('sync') ? make(call) : [call]))
      t.same(answeredTooEarly(broken(calls), markers), markers)
      t.same(answeredUnsynced(broken(alone)), { answers: 5, early: [0, 1, 2, 3, 4] })
    })
  }
})

async function startTraced(t: Test) {
  let service: ChildProcess | undefined
  t.teardown(() => service?.kill('SIGKILL'))
  const folder = t.testdir()
  const trace = join(folder, 'trace')
  const args = [MAIN, '--port', '0', '--database', join(folder, 'plants.db')]
  // With -D the service is the child process, and strace its detached grandchild, which shares its output.
  service = spawn(
    ...withoutTap(['strace', '-D', '-o', trace, ...TRACED, process.execPath, ...args]),
    {
      env: { PATH: process.env.PATH, PLANT_STORE_TOKEN: TOKEN },
      stdio: ['ignore', 'pipe', 'ignore'],
    },
  )
  const closed = once(service, 'close')
  let url = ''
  for await (const line of createInterface(service.stdout as Readable)) {
    url = /listening on (\S+)/.exec(line)?.[1] ?? ''
    if (url !== '') break
  }
  if (url === '') throw new Error('the service ended without listening')
  const stop = async () => {
    service?.kill('SIGTERM')
    await closed
    return readTrace(trace)
  }
  return { url, stop }
}

async function send(url: string, method: string, path: string, body?: object): Promise<void> {
  const type = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json'
  const response = await fetch(url + path, {
    method,
    headers: { authorization: `Bearer ${TOKEN}`, ...(body && { 'content-type': type }) },
    ...(body && { body: JSON.stringify(body) }),
  })
  await response.text()
  if (!response.ok) throw new Error(`${response.status} for ${method} ${path}`)
}
