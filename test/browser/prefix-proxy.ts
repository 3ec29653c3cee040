import { once } from 'node:events'
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Test } from 'tap'

/** Starts a reverse proxy that strips a prefix and answers 404 to all other paths. Resolves to its URL. */
export async function startProxy(t: Test, port: number, prefix: string): Promise<string> {
  const proxy = createServer((incoming, outgoing) => {
    const { url = '' } = incoming
    if (!url.startsWith(`${prefix}/`)) return outgoing.writeHead(404).end()
    forward(port, url.slice(prefix.length), incoming, outgoing)
  })
  proxy.listen(0, '127.0.0.1')
  await once(proxy, 'listening')
  t.teardown(() => {
    proxy.closeAllConnections()
    proxy.close()
  })
  return `http://127.0.0.1:${(proxy.address() as AddressInfo).port}${prefix}`
}

/** Forwards a request to another path and port of this machine. */
export function forward(
  port: number,
  path: string,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
): void {
  const { method, headers } = incoming
  const onward = request({ host: '127.0.0.1', port, path, method, headers }, (answer) => {
    outgoing.writeHead(answer.statusCode as number, answer.headers)
    answer.pipe(outgoing)
  })
  // A request can wait for changes when the browser or the service closes its connection.
  onward.on('error', () => outgoing.destroy())
  outgoing.on('close', () => onward.destroy())
  incoming.pipe(onward)
}
