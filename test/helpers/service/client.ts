import { once } from 'node:events'
import { connect } from 'node:net'
import type { Command } from '../processes/command.ts'
import { type Answer, checkAnswer } from './contract-check.ts'
import { answersOf, readAll } from './service.ts'

/** Creates a plant in a service that runs in another process, and checks the response against the contract. */
export async function createPlant(
  url: string,
  token: string,
  plant: Record<string, unknown>,
): Promise<Answer> {
  const response = await fetch(`${url}/plants`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify(plant),
  })
  const { status, headers } = response
  const answer = { status, headers: Object.fromEntries(headers), body: await response.text() }
  checkAnswer('POST', '/plants', answer)
  return answer
}

/** Starts a create: the service has received its head and half of its body. */
export async function halfACreate(url: string, token: string, plant: Record<string, unknown>) {
  const { hostname, port, host } = new URL(url)
  const body = JSON.stringify(plant)
  // An IPv6 address has brackets in a URL.
  const socket = connect(Number(port), hostname.replace(/^\[|\]$/g, ''))
  const answers = readAll(socket).then(answersOf)
  socket.write(
    [
      'POST /plants HTTP/1.1',
      `Host: ${host}`,
      `Authorization: Bearer ${token}`,
      'Content-Type: application/json',
      `Content-Length: ${body.length}`,
      // The interim response shows that the service waits for the body.
      'Expect: 100-continue',
      '\r\n',
    ].join('\r\n'),
  )
  await once(socket, 'data')
  socket.write(body.slice(0, 10))
  return { socket, answers, rest: body.slice(10) }
}

/** Resolves once the command's log contains a message; rejects if the command ends without it. */
export async function logged(command: Command, message: string): Promise<void> {
  const log = command.process.stderr
  while (log !== null && !command.stderr.includes(message)) {
    await Promise.race([once(log, 'data'), command.finished()])
    if (log.closed && !command.stderr.includes(message)) {
      throw new Error(`ended without logging ${message}: ${command.stderr}`)
    }
  }
}
