import { type Agent, request } from 'node:http'
import type { Answer } from '../../helpers/service/contract-check.ts'
import type { HttpRequest } from '../operations/operation.ts'

/** The token that clients send. */
export const TOKEN = 'a-token-for-the-test'

/** Limit for a response, in milliseconds: several times the service's own limits. */
const RESPONSE_MS_MAX = 60_000

/**
 * Sends a request.
 *
 * @returns `unsent` if there was no connection, so that nothing can have happened; undefined if the connection failed
 *   before the response was complete
 */
export function exchange(
  agent: Agent,
  url: string,
  { path, method, body = '', type = 'application/json', ifMatch, ifNoneMatch }: HttpRequest,
): Promise<Answer | 'unsent' | undefined> {
  const headers = {
    authorization: `Bearer ${TOKEN}`,
    ...(body !== '' && { 'content-type': type, 'content-length': Buffer.byteLength(body) }),
    ...(ifMatch !== undefined && { 'if-match': `"${ifMatch}"` }),
    ...(ifNoneMatch !== undefined && { 'if-none-match': `"${ifNoneMatch}"` }),
  }
  return new Promise((resolve) => {
    const options = { agent, method, headers, timeout: RESPONSE_MS_MAX }
    const outgoing = request(url + path, options, (response) => {
      let text = ''
      response.setEncoding('utf8')
      response.on('data', (chunk) => {
        text += chunk
      })
      response.on('error', () => resolve(undefined))
      response.on('end', () => {
        const status = response.statusCode as number
        resolve({ status, headers: response.headers as Answer['headers'], body: text })
      })
    })
    outgoing.on('timeout', () => outgoing.destroy())
    outgoing.on('error', (error: NodeJS.ErrnoException) =>
      resolve(error.code === 'ECONNREFUSED' ? 'unsent' : undefined),
    )
    outgoing.end(body)
  })
}
