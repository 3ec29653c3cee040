/** Functions that run in the browser. Each is sent as source text, so it cannot refer to anything outside itself. */

/**
 * Resolves the page's requests relative to the page, because a proxy may have stripped a prefix and the contract's
 * server is `/`. The URL of the contract itself (`loadSpec`) already has the prefix.
 */
export function belowThePage(request: Record<string, unknown>): Record<string, unknown> {
  const { location } = globalThis as unknown as { location: { origin: string; pathname: string } }
  const page = location.origin + location.pathname
  const folder = new URL(location.pathname.endsWith('/') ? '..' : '.', page).href
  const { origin, pathname, search } = new URL(String(request.url), location.origin)
  if (origin === location.origin && request.loadSpec !== true) {
    request.url = folder + pathname.slice(1) + search
  }
  return request
}

/** A React component. */
type Component = string | ((props: Answer) => unknown)

interface Answer {
  readonly content: string
  readonly contentType?: string
}

/** The system object that Swagger UI passes to its plugins. */
interface SwaggerUi {
  readonly React: {
    createElement(component: Component, properties: object, ...children: string[]): unknown
  }
  getComponent(name: string, connected: true): Component
}

/**
 * A Swagger UI plugin. It replaces Swagger UI's logo with the page's title, and shows the JSON of responses exactly:
 * Swagger UI would parse the numbers as doubles, which rounds ids beyond 2^53.
 */
export function plantStorePage() {
  const exactly = (text: string): string => {
    try {
      const { parse, rawJSON, stringify } = JSON as unknown as {
        parse(
          text: string,
          read: (key: string, value: unknown, at: { source: string }) => unknown,
        ): unknown
        rawJSON(source: string): unknown
        stringify(value: unknown, replacer: null, indent: number): string
      }
      const read = (_key: string, value: unknown, at: { source: string }) =>
        typeof value === 'number' ? rawJSON(at.source) : value
      return stringify(parse(text, read), null, 2)
    } catch {
      // Not JSON, or a browser from before 2025, which lacks JSON.rawJSON.
      return text
    }
  }
  return {
    components: {
      Logo: () => (globalThis as unknown as { document: { title: string } }).document.title,
    },
    wrapComponents: {
      responseBody:
        (original: Component, { React, getComponent }: SwaggerUi) =>
        (answer: Answer) => {
          if (!/json/.test(answer.contentType ?? '')) return React.createElement(original, answer)
          const shown = {
            language: 'json',
            downloadable: true,
            fileName: 'response.json',
            canCopy: true,
          }
          return React.createElement(
            getComponent('HighlightCode', true),
            shown,
            exactly(answer.content),
          )
        },
    },
  }
}
