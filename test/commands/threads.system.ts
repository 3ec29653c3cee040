/** How many threads serve HTTP. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { Command } from '../helpers/command.ts'

/** Starts a service that stops at once, and returns its messages and the names of its HTTP threads. */
async function startAndStop(t: Test, ...args: string[]) {
  const command = new Command(t, ['--port=0', '--ready-json', ...args])
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

for (const { what, threads, database, names = [], messages = [] } of [
  { what: 'two threads', threads: 2, names: ['plant-http-1', 'plant-http-2'] },
  { what: 'the main thread, if it is the only one', threads: 1 },
  {
    what: 'one thread, for a database in memory',
    threads: 4,
    database: ':memory:',
    messages: ['plant-store: a database in memory is served by one thread'],
  },
]) {
  t.test(`requests are served by ${what}`, { skip }, async (t) => {
    const file = database ?? join(t.testdir(), 'plants.db')
    const result = await startAndStop(t, `--threads=${threads}`, '--database', file)
    t.same(result, { code: 0, status: 200, threads: names, messages })
  })
}
