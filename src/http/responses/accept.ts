/** Content negotiation (RFC 9110 §12.5). */
import type { IncomingHttpHeaders } from 'node:http'
import Negotiator from 'negotiator'

/** A longer header counts as absent, because parsing one of 16 KB takes milliseconds. */
const LENGTH_MAX = 1000

/** The best of the available media types that `Accept` allows, if it allows any. The first one breaks ties. */
export function preferredType<Type extends string>(
  headers: IncomingHttpHeaders,
  available: readonly Type[],
): Type | undefined {
  const { accept = '*/*' } = headers
  // Most requests accept everything, and need no parser.
  if (accept === '*/*' || accept.length > LENGTH_MAX) return available[0]
  return new Negotiator({ headers }).mediaType(available)
}

/** The best of the available content codings that `Accept-Encoding` allows, if it allows any. The first one breaks ties. */
export function preferredCoding<Coding extends string>(
  headers: IncomingHttpHeaders,
  available: readonly Coding[],
): Coding | undefined {
  const { 'accept-encoding': accepted = '' } = headers
  if (accepted.length > LENGTH_MAX) return undefined
  return new Negotiator({ headers }).encoding(available, { preferred: available })
}
