/** Conditional requests (RFC 9110 §13). The contract has already ensured that their headers are well-formed. */

const ENTITY_TAG = /(?:W\/)?"[^"]*"/g

/** The strong entity tag for a version. The version must not contain a double quote. */
export function entityTag(version: string): string {
  return `"${version}"`
}

/**
 * The versions that `If-Match` lists; undefined if it allows any. Weak tags are omitted, because the comparison is
 * strong (RFC 9110 §13.1.1).
 */
export function expectedVersions(ifMatch: string | undefined): readonly string[] | undefined {
  if (ifMatch === undefined || ifMatch === '*') return undefined
  return parseTags(ifMatch)
    .filter((tag) => !tag.startsWith('W/'))
    .map((tag) => tag.slice(1, -1))
}

/** Whether `If-None-Match` lists the version, compared weakly (RFC 9110 §13.1.2). */
export function isKnown(version: string, ifNoneMatch: string | undefined): boolean {
  if (ifNoneMatch === undefined) return false
  if (ifNoneMatch === '*') return true
  const tags = parseTags(ifNoneMatch).map((tag) => tag.replace(/^W\//, ''))
  return tags.includes(entityTag(version))
}

function parseTags(header: string): string[] {
  return Array.from(header.matchAll(ENTITY_TAG), ([tag]) => tag)
}
