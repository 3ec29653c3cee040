/** A TLS client that trusts one authority. */
import { once } from 'node:events'
import { type ConnectionOptions, connect, type TLSSocket } from 'node:tls'
import { type Answer, checkAnswer } from '../service/contract-check.ts'
import { answersOf, readAll } from '../service/service.ts'

/** Resolves once the certificate is verified as valid for localhost. */
export async function connectTls(
  port: number,
  ca: string,
  options: ConnectionOptions = {},
): Promise<TLSSocket> {
  const socket = connect({ port, host: '127.0.0.1', servername: 'localhost', ca, ...options })
  await once(socket, 'secureConnect')
  return socket
}

/** Writes raw bytes, half-closes the connection, and resolves to the responses when it ends. */
export async function sendTls(port: number, ca: string, bytes: string): Promise<Answer[]> {
  const socket = await connectTls(port, ca)
  socket.end(bytes)
  const answers = answersOf(await readAll(socket))
  const [, method, path] = /^([A-Z]+) (?:https?:\/\/[^/]*)?(\/\S*) HTTP/.exec(bytes) ?? []
  for (const answer of answers) checkAnswer(method, path, answer)
  return answers
}
