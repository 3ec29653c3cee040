/** Starts Swagger UI on the docs page. */

/** The folder of the page's files, whether or not the address of the page ends with a slash. */
const folder = new URL(location.origin + location.pathname.replace(/\/?$/, '/'))

/** Where the service is: a proxy may have stripped a prefix, and the contract's server is `/`. */
const service = new URL('..', folder)

SwaggerUIBundle({
  dom_id: '#swagger-ui',
  layout: 'StandaloneLayout',
  presets: [SwaggerUIBundle.presets.apis, SwaggerUIStandalonePreset],
  plugins: [plantStorePage],
  url: new URL('json', folder).href,
  validatorUrl: null,
  deepLinking: true,
  syntaxHighlight: { theme: 'obsidian' },
  defaultModelsExpandDepth: 0,
  persistAuthorization: true,
  tryItOutEnabled: true,
  displayRequestDuration: true,
  requestInterceptor: prepareRequest,
})

/**
 * Removes the scheme from a token that was pasted with it, because Swagger UI adds it again. Resolves requests relative
 * to the page. The URL of the contract itself (`loadSpec`) already has the prefix.
 */
function prepareRequest(request) {
  const { headers = {} } = request
  if (headers.Authorization !== undefined) {
    const token = headers.Authorization.replace(/^(\s*Bearer(\s+|$))+/i, '').trim()
    headers.Authorization = `Bearer ${token}`
  }
  const { origin, pathname, search } = new URL(request.url, location.origin)
  if (origin === location.origin && !request.loadSpec) {
    request.url = service + pathname.slice(1) + search
  }
  return request
}

/**
 * A plugin for Swagger UI. Shows the title of the page in place of Swagger UI's logo, which has no alternative text, and
 * the JSON of responses with exact numbers: Swagger UI parses them as doubles, which rounds ids beyond 2^53.
 */
function plantStorePage() {
  return {
    components: {
      Logo: () => document.title,
    },
    wrapComponents: {
      responseBody:
        (original, { React, getComponent }) =>
        (body) => {
          if (!/json/.test(body.contentType)) return React.createElement(original, body)
          const properties = {
            language: 'json',
            downloadable: true,
            fileName: 'response.json',
            canCopy: true,
          }
          const text = indent(body.content)
          return React.createElement(getComponent('HighlightCode', true), properties, text)
        },
    },
  }
}

/** Indents JSON. Keeps the digits of all numbers. */
function indent(json) {
  try {
    const keepDigits = (_key, value, { source }) =>
      typeof value === 'number' ? JSON.rawJSON(source) : value
    return JSON.stringify(JSON.parse(json, keepDigits), null, 2)
  } catch {
    // Not JSON, or a browser from before 2025, which lacks these functions.
    return json
  }
}
