import { hash } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import Negotiator from 'negotiator'
import { memoize } from './memoize.ts'

/** An uncompressed file. */
export interface File {
  /** The media type. */
  readonly type: string
  readonly content: Buffer
}

/** A file in one content coding. */
export interface Variant extends File {
  readonly coding: Coding
  /** Digest of the coded content, so that each coding has its own (RFC 9110 §8.8.1). */
  readonly version: string
}

type Coding = 'br' | 'gzip' | 'identity'

/** Content codings (RFC 9110 §8.4.1), best first. */
const CODINGS: readonly Coding[] = ['br', 'gzip', 'identity']

/** Qualities above 9 save another tenth, but take seconds for Swagger UI's bundle. */
const BROTLI = { params: { [constants.BROTLI_PARAM_QUALITY]: 8 } }

/** A longer `Accept` or `Accept-Encoding` counts as absent, because parsing one of 16 KB takes milliseconds. */
export const ACCEPT_LENGTH_MAX = 1000

/** zlib's asynchronous functions run in the thread pool. */
const encoders: Record<Coding, (content: Buffer) => Promise<Buffer>> = {
  br: (content) => promisify(brotliCompress)(content, BROTLI),
  gzip: promisify(gzip),
  identity: async (content) => content,
}

/**
 * Keeps a file in memory, in up to three codings. The first request that needs a coding reads and compresses the file;
 * concurrent requests share that work.
 *
 * @returns a function that selects the variant for a request's headers
 */
export function cachedFile(
  read: () => Promise<File>,
): (headers: IncomingHttpHeaders) => Promise<Variant> {
  const load = memoize(read)
  const variants = new Map(
    CODINGS.map((coding) => [
      coding,
      memoize(async () => {
        const file = await load()
        const content = await encoders[coding](file.content)
        return { ...file, coding, content, version: hash('sha256', content, 'base64url') }
      }),
    ]),
  )
  return (headers) => (variants.get(chooseCoding(headers)) as () => Promise<Variant>)()
}

/** The best coding that the client accepts. If it accepts none, identity rather than 406 (RFC 9110 §12.4.1). */
function chooseCoding(headers: IncomingHttpHeaders): Coding {
  const { 'accept-encoding': accepted = '' } = headers
  if (accepted.length > ACCEPT_LENGTH_MAX) return 'identity'
  const negotiator = new Negotiator({ headers })
  return negotiator.encoding(CODINGS, { preferred: CODINGS }) ?? 'identity'
}
