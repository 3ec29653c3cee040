/** The page or worker in which the client runs. Node has none. */

/** The part of a browser's `location` that the client reads. */
declare const location: { readonly href: string; readonly origin: string } | undefined

/** The value that a browser sends as `Origin`. In a sandbox, that of `location` differs. Some environments lack it. */
declare const origin: string | undefined

/** Undefined in workers. */
declare const document: { readonly baseURI: string } | undefined

/** Parses a URL, in a browser relative to the page. Undefined if it is invalid. */
export function parseUrl(url: string | URL): URL | undefined {
  return URL.parse(url, baseUrl()) ?? undefined
}

/** The base URL of the page's own requests: the page's URL, unless the page has a `<base>` element. */
function baseUrl(): string | undefined {
  if (typeof document !== 'undefined') return document.baseURI
  return typeof location === 'undefined' ? undefined : location.href
}

/**
 * Advice if a browser may have blocked a request or its response. The error of `fetch` does not tell whether it did or
 * the connection failed. Undefined if it cannot have been blocked.
 *
 * @param url the absolute URL of the service
 * @param error what `fetch` threw
 */
export function explainBlocked(url: string, error: unknown): string | undefined {
  if (typeof location === 'undefined' || !(error instanceof TypeError)) return undefined
  const sent = typeof origin === 'undefined' ? location.origin : origin
  if (new URL(url).origin === sent) return undefined
  return `if the service is running, check that its --cors-origin allows ${sent}`
}
