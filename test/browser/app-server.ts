import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import type { Test } from 'tap'
import ts from 'typescript'
import { forward } from './prefix-proxy.ts'

const ROOT = new URL('../../', import.meta.url)

/** A page that uses the client as an app would install it, and makes it available as the global `plantStore`. */
const PAGE = `<!doctype html>
<link rel="icon" href="data:,">
<script type="importmap">
  {"imports": {"plant-store/client": "/dist/client/client.js", "openapi-fetch": "/openapi-fetch.js"}}
</script>
<script type="module">
  import * as plantStore from 'plant-store/client'
  Object.assign(globalThis, { plantStore })
</script>`

const OPENAPI_FETCH = fileURLToPath(import.meta.resolve('openapi-fetch'))

/**
 * Starts a server for a web app, which stops when the test ends. Resolves to its origin.
 *
 * @param storePort the port of a service that the app can reach at `/store`
 */
export async function startAppServer(t: Test, storePort?: number): Promise<string> {
  const server = createServer((request, response) => {
    const { url = '' } = request
    const [, module] = /^\/dist\/([\w./-]+)\.js$/.exec(url) ?? []
    const [, path] = /^\/store(\/.*)$/.exec(url) ?? []
    if (path !== undefined && storePort !== undefined) forward(storePort, path, request, response)
    else if (module !== undefined) sendScript(response, buildModule(`${module}.ts`))
    else if (url === '/openapi-fetch.js') sendScript(response, readFileSync(OPENAPI_FETCH, 'utf8'))
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

function sendScript(response: ServerResponse, script: string): void {
  response.setHeader('content-type', 'text/javascript').end(script)
}

/** What has been compiled, by path. */
const modules = new Map<string, string>()

let options: ts.CompilerOptions | undefined

/** A module as `npm run build` compiles it. */
function buildModule(path: string): string {
  const known = modules.get(path)
  if (known !== undefined) return known
  const source = readFileSync(new URL(path, ROOT), 'utf8')
  options ??= buildOptions()
  const { outputText } = ts.transpileModule(source, { compilerOptions: options })
  modules.set(path, outputText)
  return outputText
}

function buildOptions(): ts.CompilerOptions {
  const path = fileURLToPath(new URL('tsconfig.build.json', ROOT))
  const host = { ...ts.sys, onUnRecoverableConfigFileDiagnostic: () => {} }
  const config = ts.getParsedCommandLineOfConfigFile(path, {}, host)
  // A single module does not know that package.json has the type `module`.
  return { ...config?.options, module: ts.ModuleKind.ESNext }
}
