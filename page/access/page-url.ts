/** The URL of the page, which ends with a slash. A proxy may have added a prefix to its path. */
export function pageUrl(): URL {
  return new URL('.', location.origin + location.pathname)
}

/** Whether the page was opened with an issuer's response. */
export function isResponse(): boolean {
  const parameters = new URLSearchParams(location.search)
  return parameters.has('state') && (parameters.has('code') || parameters.has('error'))
}
