/** The content of a plant: its own fields are the text of JSON members, sorted by name, without braces. */
interface Content {
  readonly name: string
  readonly tag?: string | undefined
  readonly fields?: string | undefined
}

/** A version contains at most this much text, in UTF-16 units. */
const TEXT_MAX = 64

/** Characters of base64url, which are 132 bits. */
const HASH_LENGTH = 22

const SHORT_START = 'name='

/** What a proxy that compresses a response, such as Apache, appends to its entity tag. No short version ends with it. */
const CODING_SUFFIXES = ['-gzip', '-br', '-zstd', '-deflate']

/**
 * The version of a short plant without own fields: its content in visible ASCII characters except double quotes, because
 * hashing takes half as long as reading the plant. Undefined for other plants, whose version is a hash.
 */
export function shortVersion({ name, tag, fields }: Content): string | undefined {
  if (fields !== undefined || name.length + (tag?.length ?? 0) > TEXT_MAX) return undefined
  const content = SHORT_START + encodeURIComponent(name)
  const version = tag === undefined ? content : `${content}&tag=${encodeURIComponent(tag)}`
  return codingSuffix(version) === undefined ? version : undefined
}

/** Removes the suffix of a content coding that a proxy has appended to a version. Returns other versions unchanged. */
export function withoutCoding(version: string): string {
  const suffix = codingSuffix(version)
  if (suffix === undefined) return version
  const original = version.slice(0, -suffix.length)
  // The end of a hash can look like a suffix.
  return version.startsWith(SHORT_START) || original.length === HASH_LENGTH ? original : version
}

function codingSuffix(version: string): string | undefined {
  return CODING_SUFFIXES.find((suffix) => version.endsWith(suffix))
}

/** The text whose SHA-256 makes the version of other plants. */
export function hashedText({ name, tag, fields }: Content): string {
  return JSON.stringify(fields === undefined ? [name, tag] : [name, tag, fields])
}

/** @param hash SHA-256 in base64url */
export function hashVersion(hash: string): string {
  return hash.slice(0, HASH_LENGTH)
}

/** The strong entity tag for a version (RFC 9110 §8.8.3). The version must not contain a double quote. */
export function entityTag(version: string): string {
  return `"${version}"`
}

/** The version in an entity tag, even if a proxy has compressed the response and changed the tag. */
export function versionOf(tag: string): string {
  return withoutCoding(tag.slice(tag.indexOf('"') + 1, -1))
}
