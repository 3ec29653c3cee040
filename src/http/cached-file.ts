import { hash } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import Negotiator from 'negotiator'
import { once } from './once.ts'

/** A file as it was read. */
export interface File {
  /** Its media type. */
  readonly type: string
  readonly content: Buffer
}

/** A file as one client receives it. */
export interface Variant extends File {
  readonly coding: Coding
  /** The digest of the content, so that no two codings share one (RFC 9110 §8.8.1). */
  readonly version: string
}

type Coding = 'br' | 'gzip' | 'identity'

/** Content codings (RFC 9110 §8.4.1), best first. */
const CODINGS: readonly Coding[] = ['br', 'gzip', 'identity']

/** The qualities above 9 save another tenth, but take seconds for Swagger UI's bundle. */
const BROTLI = { params: { [constants.BROTLI_PARAM_QUALITY]: 8 } }

/** zlib's asynchronous functions compress outside the event loop's thread. */
const encoders: Record<Coding, (content: Buffer) => Promise<Buffer>> = {
  br: (content) => promisify(brotliCompress)(content, BROTLI),
  gzip: promisify(gzip),
  identity: async (content) => content,
}

/**
 * Keeps a file in memory, in three codings at most. It is read and compressed at the first request that
 * needs it; concurrent requests share that work.
 *
 * @returns the variant to answer a request that has these headers with
 */
export function cachedFile(
  read: () => Promise<File>,
): (headers: IncomingHttpHeaders) => Promise<Variant> {
  const readOnce = once(read)
  const variants = new Map(
    CODINGS.map((coding) => [
      coding,
      once(async () => {
        const file = await readOnce()
        const content = await encoders[coding](file.content)
        return { ...file, coding, content, version: hash('sha256', content, 'base64url') }
      }),
    ]),
  )
  return (headers) => (variants.get(codingFor(headers)) as () => Promise<Variant>)()
}

/** If the client rules out all codings, it receives identity rather than a 406 (RFC 9110 §12.4.1). */
function codingFor(headers: IncomingHttpHeaders): Coding {
  const negotiator = new Negotiator({ headers })
  return negotiator.encoding(CODINGS, { preferred: CODINGS }) ?? 'identity'
}
