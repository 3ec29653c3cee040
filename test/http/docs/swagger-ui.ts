/** Swagger UI without a browser, for tests of our configuration and plugins. */
import { createContext, runInContext } from 'node:vm'
import type { prepareRequest, swaggerPlugin } from '../../../src/http/docs/docs-page.ts'
import type { DocsSettings, servicePlugin } from '../../../src/http/docs/service-plugin.ts'
import type { Service } from '../../helpers/service/service.ts'

/** Swagger UI's configuration. */
export interface Configuration extends DocsSettings {
  readonly url: string
  readonly persistAuthorization: boolean
  readonly validatorUrl: null
  readonly requestInterceptor: typeof prepareRequest
  readonly plugins: readonly [typeof swaggerPlugin, typeof servicePlugin]
}

/** Renders an element as an array of its parts. */
export const UI = {
  React: { createElement: (...element: unknown[]) => element },
  getComponent: (name: string) => name,
}

/** Runs the served initializer like the page at an address, and returns Swagger UI's configuration. */
export async function readConfiguration({ url }: Service, page: string): Promise<Configuration> {
  const script = await (await fetch(`${url}/documentation/static/swagger-initializer.js`)).text()
  const configurations: Configuration[] = []
  const bundle = (configuration: Configuration) => {
    configurations.push(configuration)
    return { initOAuth: () => {} }
  }
  const location = new URL(page)
  const context = {
    URL,
    location,
    window: { location, onload: () => {} },
    document: { createElement: () => ({}), querySelector: () => ({ appendChild: () => {} }) },
    SwaggerUIBundle: Object.assign(bundle, { presets: {}, plugins: {} }),
    SwaggerUIStandalonePreset: {},
  }
  runInContext(script, createContext(context))
  context.window.onload()
  return configurations[0] as Configuration
}

/** Like a `Map` of Immutable.js. */
export function immutable<Value>(values: Record<string, Value>) {
  return {
    get: (name: string) => values[name],
    set: (name: string, value: Value) => immutable({ ...values, [name]: value }),
    delete: (name: string) =>
      immutable(Object.fromEntries(Object.entries(values).filter(([key]) => key !== name))),
    toJS: () => values,
  }
}
