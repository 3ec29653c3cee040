/** The URL of the page, which ends with a slash. A proxy may have added a prefix to its path. */
export function pageUrl(): URL {
  return new URL('.', location.origin + location.pathname)
}
