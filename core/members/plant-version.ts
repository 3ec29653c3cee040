/** Characters of base64url, which are 132 bits. */
export const HASH_LENGTH = 22

/** How versions start that are the content of a plant. Others are hashes. */
export const SHORT_START = 'name='

/** What a proxy that compresses a response, such as Apache, appends to its entity tag. No short version ends with it. */
const CODING_SUFFIXES = ['-gzip', '-br', '-zstd', '-deflate']

/** Removes the suffix of a content coding that a proxy has appended to a version. Returns other versions unchanged. */
export function withoutCoding(version: string): string {
  const suffix = codingSuffix(version)
  if (suffix === undefined) return version
  const original = version.slice(0, -suffix.length)
  // The end of a hash can look like a suffix.
  return version.startsWith(SHORT_START) || original.length === HASH_LENGTH ? original : version
}

/** The suffix of a content coding that a version ends with. */
export function codingSuffix(version: string): string | undefined {
  return CODING_SUFFIXES.find((suffix) => version.endsWith(suffix))
}

/** The strong entity tag for a version (RFC 9110 §8.8.3). The version must not contain a double quote. */
export function entityTag(version: string): string {
  return `"${version}"`
}

/** The version in an entity tag, even if a proxy has compressed the response and changed the tag. */
export function versionOf(tag: string): string {
  return withoutCoding(tag.slice(tag.indexOf('"') + 1, -1))
}
