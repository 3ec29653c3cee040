/** Code that runs in the browser, like `docs-page.ts`. */
import type { Component, ImmutableMap, prepareRequest, SwaggerUi } from './docs-page.ts'

/** The part of the browser's globals that the function uses. */
declare const location: { readonly pathname: string }

/** What the docs need to know about the service. */
export interface DocsSettings {
  /** Other parts of the service, by path. */
  readonly links: readonly { readonly text: string; readonly path: string }[]
  /** Another way to get a token than those in the contract, in Markdown. */
  readonly tokenHelp?: string
}

/** What Swagger UI passes to its plugins, and to their wrappers of actions. */
interface ConfiguredUi extends SwaggerUi {
  readonly errActions: {
    clear(filter: AuthProblem): void
    newAuthErr(problem: AuthProblem): void
  }
  getConfigs(): DocsSettings & { readonly requestInterceptor: typeof prepareRequest }
}

interface AuthProblem {
  readonly authId: string
  readonly source: 'auth'
  readonly level?: 'warning'
  readonly message?: string
}

/** What a reader has entered to authorize requests. */
interface Credentials {
  readonly bearer?: { readonly value: string }
}

/** A plugin for Swagger UI. Links to the rest of the service, and tries a token when it is entered. */
export function servicePlugin() {
  /** A relative URL for a path of the service, because a proxy may have stripped a prefix. */
  const resolve = (path: string) => (location.pathname.endsWith('/') ? '..' : '.') + path
  /** Why the service rejects a token; undefined if it accepts it. */
  const rejectionOf = async (token: string, { getConfigs }: ConfiguredUi) => {
    const headers = { Authorization: `Bearer ${token}` }
    const { url } = getConfigs().requestInterceptor({ url: '/token', headers })
    try {
      const response = await fetch(String(url), { headers })
      if (response.ok) return undefined
      const { message } = (await response.json()) as { message: string }
      return message
    } catch {
      return 'the service cannot be reached'
    }
  }
  return {
    statePlugins: {
      auth: {
        wrapActions: {
          authorizeWithPersistOption:
            (original: (credentials: Credentials) => void, ui: ConfiguredUi) =>
            async (credentials: Credentials) => {
              const problem = { authId: 'bearer', source: 'auth' } as const
              ui.errActions.clear(problem)
              const message = await rejectionOf(credentials.bearer?.value ?? '', ui)
              if (message === undefined) original(credentials)
              // An error would be repeated at the top of the page.
              else ui.errActions.newAuthErr({ ...problem, level: 'warning', message })
            },
        },
      },
    },
    wrapComponents: {
      // Links in the contract start at the root of the service, like its server.
      Markdown:
        (original: Component, { React }: ConfiguredUi) =>
        (text: { readonly source?: string }) => {
          const source = text.source?.replaceAll('](/', `](${resolve('/')}`)
          return React.createElement(original, { ...text, source })
        },
      InfoUrl:
        (original: Component, { React, getConfigs }: ConfiguredUi) =>
        (properties: object) =>
          React.createElement(
            'nav',
            {},
            React.createElement(original, properties),
            ...getConfigs().links.map(({ text, path }) =>
              React.createElement('a', { href: resolve(path) }, text),
            ),
          ),
      HttpAuth:
        (original: Component, { React, getComponent, getConfigs }: ConfiguredUi) =>
        (properties: object) =>
          React.createElement(
            'div',
            {},
            React.createElement(original, properties),
            React.createElement(getComponent('Markdown', true), { source: getConfigs().tokenHelp }),
          ),
      // Read aloud by screen readers when it appears.
      authError:
        (_original: Component, { React }: ConfiguredUi) =>
        ({ error }: { readonly error: ImmutableMap<string> }) =>
          React.createElement('p', { className: 'errors', role: 'alert' }, error.get('message')),
    },
  }
}
