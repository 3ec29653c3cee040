/**
 * Code that runs in the browser. Each function is sent as its source text, so it cannot use anything outside itself.
 */

/** The parts of the browser's globals that the functions use. */
declare const location: { readonly origin: string; readonly pathname: string }
declare const document: { readonly title: string }

declare global {
  /** ES2026 (https://tc39.es/proposal-json-parse-with-source/), which TypeScript's library lacks. */
  interface JSON {
    parse(
      text: string,
      reviver: (key: string, value: unknown, context: { source: string }) => unknown,
    ): unknown
    rawJSON(text: string): unknown
  }
}

/**
 * A request interceptor for Swagger UI. Removes the scheme from a token that was pasted with it, because Swagger UI adds
 * it again. Resolves requests relative to the page, because a proxy may have stripped a
 * prefix and the contract's server is `/`. The URL of the contract itself (`loadSpec`) already has the prefix. Explains
 * what to do with a stream, for which Swagger UI would wait forever.
 */
export function prepareRequest(request: Record<string, unknown>): Record<string, unknown> {
  const headers = request.headers as Record<string, string> | undefined
  if (headers?.Authorization !== undefined) {
    const token = headers.Authorization.replace(/^(\s*Bearer(\s+|$))+/i, '').trim()
    headers.Authorization = `Bearer ${token}`
  }
  const page = location.origin + location.pathname
  const folder = new URL(location.pathname.endsWith('/') ? '..' : '.', page).href
  const { origin, pathname, search } = new URL(String(request.url), location.origin)
  if (origin === location.origin && request.loadSpec !== true) {
    request.url = folder + pathname.slice(1) + search
  }
  if (headers?.accept === 'text/event-stream') {
    const text =
      'Swagger UI cannot show a stream, which never ends. Run the command above in a terminal, with `-N`, so that curl shows each event at once. To follow the changes here, select `application/json`, and set `wait`.'
    request.userFetch = () => Promise.reject(Object.assign(new Error(text), { name: '' }))
  }
  return request
}

/** A React component. */
export type Component = string | ((props: never) => unknown)

interface ResponseBody {
  readonly content: string
  readonly contentType?: string
}

/** A `Map` of Immutable.js, in which Swagger UI keeps the contract. */
export interface ImmutableMap<Value> {
  get(name: string): Value | undefined
  set(name: string, value: unknown): ImmutableMap<Value>
  delete(name: string): ImmutableMap<Value>
  toJS(): object
}

interface ParameterRow {
  /** Absent for a webhook. */
  readonly param?: ImmutableMap<unknown>
  readonly rawParam: ImmutableMap<unknown>
}

/** The part of a parameter's schema that describes its limits. */
interface Limits {
  readonly minimum?: number
  readonly maximum?: number
  readonly minLength?: number
  readonly maxLength?: number
  readonly minItems?: number
  readonly maxItems?: number
  readonly items?: { readonly type: string; readonly format?: string }
  readonly default?: number
}

/** What Swagger UI passes to its plugins. */
export interface SwaggerUi {
  readonly React: {
    createElement(component: Component, properties: object, ...children: unknown[]): unknown
  }
  getComponent(name: string, connected?: true): Component
}

/**
 * A plugin for Swagger UI. Shows the title of the page in place of Swagger UI's logo, the limits of parameters, and the
 * JSON of responses with exact numbers: Swagger UI parses them as doubles, which rounds ids beyond 2^53. Hides what
 * repeats: `X-Request-Id`, which the description explains, and patterns, which exist for tools.
 */
export function swaggerPlugin(ui: SwaggerUi) {
  const indent = (text: string): string => {
    try {
      const keepDigits = (_key: string, value: unknown, context: { source: string }) =>
        typeof value === 'number' ? JSON.rawJSON(context.source) : value
      return JSON.stringify(JSON.parse(text, keepDigits), null, 2)
    } catch {
      // Not JSON, or a browser from before 2025, which lacks these functions.
      return text
    }
  }
  /** Such as `1 to 1000, default 100`. */
  const describe = (limits: Limits): string => {
    const range = (min: number | undefined, max: number | undefined, unit: string) =>
      max === undefined ? [] : [`${min ?? 'up'} to ${max}${unit}`]
    return [
      ...range(limits.minimum, limits.maximum, ''),
      ...range(limits.minLength, limits.maxLength, ' characters'),
      ...range(
        limits.minItems,
        limits.maxItems,
        ` items (${limits.items?.format ?? limits.items?.type})`,
      ),
      ...(limits.default === undefined ? [] : [`default ${limits.default}`]),
    ].join(', ')
  }
  // Swagger UI has no fields for lists of these, and warns before it uses another.
  const listField = (properties: object) =>
    ui.React.createElement(ui.getComponent('JsonSchema_string'), properties)
  return {
    components: {
      Logo: () => document.title,
      JsonSchema_integer_int32: listField,
      JsonSchema_integer_int64: listField,
      JsonSchema_string_date: listField,
      'JsonSchema_string_date-time': listField,
      JsonSchema_string_email: listField,
      JsonSchema_string_uri: listField,
    },
    wrapComponents: {
      parameterRow:
        (original: Component, { React }: SwaggerUi) =>
        (row: ParameterRow) => {
          const param = row.param ?? row.rawParam
          const limits = describe((param.get('schema') as ImmutableMap<unknown>).toJS())
          const description = `${String(param.get('description')).trim()}  \n*${limits}*`
          return React.createElement(original, {
            ...row,
            param: limits === '' ? param : param.set('description', description),
          })
        },
      headers:
        (original: Component, { React }: SwaggerUi) =>
        (properties: { readonly headers?: ImmutableMap<unknown> }) =>
          React.createElement(original, {
            ...properties,
            headers: properties.headers?.delete('X-Request-Id'),
          }),
      JSONSchema202012KeywordConstraint:
        (original: Component, { React }: SwaggerUi) =>
        (properties: { readonly constraint: { readonly value: string } }) =>
          properties.constraint.value.startsWith('matches ')
            ? null
            : React.createElement(original, properties),
      responseBody:
        (original: Component, { React, getComponent }: SwaggerUi) =>
        (body: ResponseBody) => {
          if (!/json/.test(body.contentType ?? '')) return React.createElement(original, body)
          const properties = {
            language: 'json',
            downloadable: true,
            fileName: 'response.json',
            canCopy: true,
          }
          return React.createElement(
            getComponent('HighlightCode', true),
            properties,
            indent(body.content),
          )
        },
    },
  }
}
