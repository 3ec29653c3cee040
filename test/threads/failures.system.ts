/** Threads that block or end. */
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import t, { type Test } from 'tap'
import { Command } from '../helpers/processes/command.ts'
import { logged } from '../helpers/service/client.ts'
import type { Answer } from '../helpers/service/contract-check.ts'
import { ask, type Line, openLines, THREADS } from '../helpers/service/threads.ts'
import type { ThreadCommand } from './thread-control.ts'

const CONTROL = pathToFileURL(join(import.meta.dirname, 'thread-control.ts'))

/** Starts a service whose threads the test can control. */
async function startControlled(t: Test, threads = THREADS) {
  const database = join(t.testdir(), 'plants.db')
  const args = ['--threads', `${threads}`, '--port=0', '--database', database]
  const command = new Command(t, args, {
    node: [`--import=${CONTROL}`],
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  })
  const port = Number(new URL(await command.listening()).port)
  const control = (message: ThreadCommand) => void command.process.send(message)
  return { command, port, control }
}

/** Sends readiness checks over a connection until one is answered as expected. */
async function checkUntil(isExpected: (answer: Answer) => boolean, { socket }: Line) {
  for (;;) {
    const answer = await ask(socket, 'GET /health/ready HTTP/1.1\r\nHost: x\r\n\r\n')
    if (isExpected(answer)) return answer
  }
}

t.test('an HTTP thread', async (t) => {
  const { command, port, control } = await startControlled(t)
  const thread = 'plant-http-3'

  t.test('while it does not respond, no thread is ready', async (t) => {
    const lines = await openLines(t, { port })
    for (const line of lines) await checkUntil(({ status }) => status === 200, line)
    control({ thread, action: 'block' })
    const busy = new Map<Line, Answer>()
    let isReported = false
    logged(command, `${thread} does not respond`).then(() => {
      isReported = true
    })
    const enough = Promise.withResolvers<void>()
    // Each check searches for a thread that does not respond. On a busy machine, it can find another one first.
    const checks = lines.map((line) =>
      checkUntil((answer) => {
        if (answer.status === 503) busy.set(line, answer)
        const isEnough = isReported && busy.size >= THREADS - 1
        if (isEnough) enough.resolve()
        return isEnough
      }, line),
    )
    await enough.promise
    for (const answer of busy.values()) {
      t.match(answer, { status: 503, headers: { 'retry-after': '1' }, body: /"error":50303/ })
    }
    control({ thread, action: 'release' })
    await Promise.all(checks)
    for (const line of lines) await checkUntil(({ status }) => status === 200, line)
    t.pass('then all of them are ready again')
  })

  t.test('if it fails, the process ends with code 1 and a message', async (t) => {
    control({ thread, action: 'throw' })
    const { code, stderr } = await command.finished()
    t.equal(code, 1)
    t.match(stderr, /^plant-store: the thread plant-http-3 failed\nError: a defect\n/m)
  })
})

for (const { what, command: sent, says } of [
  {
    what: 'the writer fails',
    command: { thread: 'plant-writer', action: 'throw' },
    says: /^plant-store: the thread plant-writer failed\nError: a defect\n/m,
  },
  {
    what: 'an HTTP thread ends',
    command: { thread: 'plant-http-1', action: 'exit' },
    says: /^plant-store: the thread plant-http-1 ended unexpectedly\n/m,
  },
] as const) {
  t.test(`if ${what}, the process ends with code 1 and a message`, async (t) => {
    const { command, control } = await startControlled(t, 2)
    control(sent)
    t.match(await command.finished(), { code: 1, stderr: says })
  })
}
