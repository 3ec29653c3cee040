/** The page or worker in which the client runs. Node has none. */

/** The part of a browser's `location` that the client reads. */
declare const location: { readonly href: string } | undefined

/** What a browser sends as `Origin`. It differs from that of `location` in a sandbox. */
declare const origin: string

/** Parses a URL, in a browser relative to the page. Undefined if it is invalid. */
export function parseUrl(url: string | URL): URL | undefined {
  const base = typeof location === 'undefined' ? undefined : location.href
  return URL.parse(url, base) ?? undefined
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
  if (new URL(url).origin === origin) return undefined
  return `if the service is running, check that its --cors-origin allows ${origin}`
}
