import type { Answer } from '../service/contract-check.ts'
import { type Service, sendRaw } from '../service/service.ts'

/** Sends a request line and headers, with a token, and an optional body. Returns the first response. */
export async function sendHead(
  { port, token }: Service,
  lines: readonly string[],
  body = '',
): Promise<Answer | undefined> {
  const more = [`Authorization: Bearer ${token}`, 'Connection: close', '', '']
  const head = [...lines, ...more].join('\r\n')
  const [answer] = await sendRaw(port, Buffer.from(head + body, 'latin1'))
  return answer
}
