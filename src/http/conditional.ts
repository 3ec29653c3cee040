/** Conditional requests (RFC 9110 §13), after the contract has seen that its headers are well-formed. */
import type { FastifyRequest } from 'fastify'
import { Failure } from './failure.ts'

const ENTITY_TAG = /(?:W\/)?"[^"]*"/g

/** The methods that change the plant that a precondition is about. */
const CHANGES = ['PUT', 'PATCH', 'DELETE']

/** The strong entity tag for a version, which has no quote in it. */
export function entityTag(version: string): string {
  return `"${version}"`
}

/**
 * The versions that the preconditions let a request be about; undefined if it is any. A weak tag is none
 * of them, as the comparison is the strong one (RFC 9110 §13.1.1).
 *
 * @throws Failure if a change has an `If-None-Match` with entity tags, which the contract has for fetching
 *   only: it may not be made as if they were not there (§13.1.2)
 */
export function expectedVersions({
  method,
  headers,
}: Pick<FastifyRequest, 'method' | 'headers'>): readonly string[] | undefined {
  const { 'if-match': ifMatch, 'if-none-match': ifNoneMatch } = headers
  if (ifNoneMatch !== undefined && CHANGES.includes(method)) {
    if (ifNoneMatch === '*') return []
    throw new Failure('invalid-parameter', 'the header if-none-match of a change must be *')
  }
  if (ifMatch === undefined || ifMatch === '*') return undefined
  return tagsIn(ifMatch)
    .filter((tag) => !tag.startsWith('W/'))
    .map((tag) => tag.slice(1, -1))
}

/** Whether `If-None-Match` names the version, by the weak comparison (RFC 9110 §13.1.2). */
export function isKnown(version: string, ifNoneMatch: string | undefined): boolean {
  if (ifNoneMatch === undefined) return false
  if (ifNoneMatch === '*') return true
  const tags = tagsIn(ifNoneMatch).map((tag) => tag.replace(/^W\//, ''))
  return tags.includes(entityTag(version))
}

function tagsIn(header: string): string[] {
  return Array.from(header.matchAll(ENTITY_TAG), ([tag]) => tag)
}
