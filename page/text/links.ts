/** The URL that a link can lead to. Undefined for schemes that run code or open other programs. */
export function linkTarget(uri: string): string | undefined {
  return /^https?:\/\//i.test(uri) && URL.canParse(uri) ? uri : undefined
}
