/** How many threads serve HTTP. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { Command } from '../helpers/command.ts'

/** Starts a service that stops at once, and returns its messages and the names of its HTTP threads. */
async function startAndStop(t: Test, ...args: string[]) {
  const command = new Command(t, ['--port=0', '--ready-json', ...args], { measured: true })
  const [line] = await command.says(/.*\n/)
  const tasks = `/proc/${command.process.pid}/task`
  const names = readdirSync(tasks).map((id) => readFileSync(`${tasks}/${id}/comm`, 'utf8').trim())
  const response = await fetch(`${JSON.parse(line).url}/health/ready`)
  command.process.kill('SIGTERM')
  const { code, stderr } = await command.finished()
  const threads = names.filter((name) => name.startsWith('plant-http')).sort()
  const messages = stderr.split('\n').filter((line) => line !== '' && !line.startsWith('{'))
  return { code, status: response.status, threads, messages }
}

const skip = process.platform === 'linux' ? false : 'reads the names of threads from /proc'
const stopped = { code: 0, status: 200 }

t.test('--threads starts as many HTTP threads', { skip }, async (t) => {
  const database = join(t.testdir(), 'plants.db')
  const threads = ['plant-http-1', 'plant-http-2']
  const result = await startAndStop(t, '--threads=2', '--database', database)
  t.same(result, { ...stopped, threads, messages: [] })
})

t.test('with one thread, the main thread serves', { skip }, async (t) => {
  const database = join(t.testdir(), 'plants.db')
  const result = await startAndStop(t, '--threads=1', '--database', database)
  t.same(result, { ...stopped, threads: [], messages: [] })
})

t.test('a database in memory is served by one thread', { skip }, async (t) => {
  const memory = ['--database=:memory:']
  t.same(await startAndStop(t, ...memory, '--threads=4'), {
    ...stopped,
    threads: [],
    messages: ['plant-store: a database in memory is served by one thread'],
  })
  t.same(await startAndStop(t, ...memory), { ...stopped, threads: [], messages: [] })
})
