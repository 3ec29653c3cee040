import { once } from 'node:events'
import { connect } from 'node:net'
import t from 'tap'
import { createPlant } from '../helpers/client.ts'
import { Command } from '../helpers/command.ts'
import type { Answer } from '../helpers/contract-check.ts'

const TOKEN = 'a-token-of-the-environment'
const SLOW = 400

t.test('400 connections that drip bytes are gone within 15 s, others are served', async (t) => {
  const command = new Command(t, ['--port', '0', '--database', ':memory:'], {
    measured: false,
    env: { PLANT_STORE_TOKEN: TOKEN },
    cwd: t.testdir(),
  })
  const url = await command.listening()
  const port = Number(new URL(url).port)
  const head = `POST /plants HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${TOKEN}\r\n`
  const starts = [
    'P',
    head,
    `${head}Content-Type: application/json\r\nContent-Length: 1000\r\n\r\n{`,
    `${head}Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n3e8\r\n{`,
  ]
  const begun = performance.now()
  const gone = Array.from({ length: SLOW }, async (_, index) => {
    const socket = connect(port, '127.0.0.1').on('error', () => {})
    socket.resume().write(starts[index % starts.length] as string)
    const drip = setInterval(() => socket.write(' '), 2000)
    await once(socket, 'close')
    clearInterval(drip)
    return performance.now() - begun
  })
  const served: Promise<Answer>[] = []
  const create = setInterval(() => {
    served.push(createPlant(url, TOKEN, { id: served.length, name: 'Abies alba Mill.' }))
  }, 250)
  const longest = Math.max(...(await Promise.all(gone)))
  clearInterval(create)
  const answers = await Promise.all(served)
  t.ok(answers.length > 10, `${answers.length} creates were sent meanwhile`)
  t.ok(answers.every(({ status }) => status === 200))
  t.ok(longest < 15_000, `the last was gone after ${longest} ms`)
})
