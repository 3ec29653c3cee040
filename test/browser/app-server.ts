import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Test } from 'tap'
import { bundleClient } from '../../tools/build/client-bundle.ts'
import { forward } from './prefix-proxy.ts'

/** A page that uses the client as an app would install it, and makes it available as the global `plantStore`. */
const PAGE = `<!doctype html>
<link rel="icon" href="data:,">
<script type="module">
  import * as plantStore from '/client.js'
  Object.assign(globalThis, { plantStore })
</script>`

const CLIENT = await bundleClient()

/**
 * Starts a server for a web app, which stops when the test ends. Resolves to its origin.
 *
 * @param storePort the port of a service that the app can reach at `/store`
 */
export async function startAppServer(t: Test, storePort?: number): Promise<string> {
  const server = createServer((request, response) => {
    const { url = '' } = request
    const [, path] = /^\/store(\/.*)$/.exec(url) ?? []
    if (path !== undefined && storePort !== undefined) forward(storePort, path, request, response)
    else if (url === '/client.js') response.setHeader('content-type', 'text/javascript').end(CLIENT)
    else response.setHeader('content-type', 'text/html').end(PAGE)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}
