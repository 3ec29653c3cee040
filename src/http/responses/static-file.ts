/** Files of the docs, the guides and the page, which are compressed once and kept in memory. */
import { hash } from 'node:crypto'
import { promisify } from 'node:util'
import zlib from 'node:zlib'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { entityTag } from '../../../core/members/plant-version.ts'
import type { Clock } from '../../../core/time/clock.ts'
import { preferredCoding } from './accept.ts'
import { ByteBudget } from './byte-budget.ts'
import { addVary, isKnown, reserve } from './response.ts'

/** Revalidated before each use, so that a page matches the running service. */
const REVALIDATED = 'no-cache'

/** Content codings (RFC 9110 §8.4.1), best first. */
const CODINGS = ['br', 'gzip', 'identity'] as const

/** Qualities above 9 save another tenth, but take seconds for Swagger UI's bundle. */
const BROTLI = { params: { [zlib.constants.BROTLI_PARAM_QUALITY]: 8 } }

/** They run in the thread pool. */
const toBrotli = promisify<zlib.InputType, zlib.BrotliOptions, Buffer>(zlib.brotliCompress)
const toGzip = promisify(zlib.gzip)

/**
 * The limit on all files in flight over TLS, where each response is encrypted into its own memory. Over plain HTTP,
 * responses share the files in memory.
 */
const ENCRYPTED_BYTES_MAX = 2 ** 25

/** Pages load nothing from third parties, and nothing inline except icons. Scripts can call these origins. */
function contentSecurityPolicy(origins: readonly string[]): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data:",
    ["connect-src 'self'", ...origins].join(' '),
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ')
}

/** A file in each coding. */
export interface StaticFile extends Readonly<Record<(typeof CODINGS)[number], Uint8Array>> {
  readonly type: string
  /** The value of `Content-Security-Policy`. */
  readonly policy: string
  /** The same for each coding, so its entity tag is weak (RFC 9110 §8.8.1). */
  readonly version: string
}

/**
 * @param type the media type
 * @param origins other origins that the page's scripts can call
 */
export async function compressFile(
  type: string,
  identity: Uint8Array,
  origins: readonly string[] = [],
): Promise<StaticFile> {
  const [br, gzip] = await Promise.all([toBrotli(identity, BROTLI), toGzip(identity)])
  const version = hash('sha256', identity, 'base64url')
  return { type, br, gzip, identity, version, policy: contentSecurityPolicy(origins) }
}

/** Prepares the responses for files. */
export class StaticFiles {
  readonly #encrypted: ByteBudget

  /** @param threads how many threads share the process's limits */
  constructor(threads: number, clock?: Pick<Clock, 'monotonic'>) {
    this.#encrypted = new ByteBudget(ENCRYPTED_BYTES_MAX / threads, clock)
  }

  /**
   * Sets the status and the headers of the response for a file, in the coding that the client prefers.
   *
   * @param lifetime the value of `Cache-Control`
   * @returns the content to send; undefined for 304
   * @throws ApiError if too many files are being sent over TLS
   */
  respond(
    request: FastifyRequest,
    reply: FastifyReply,
    file: StaticFile,
    lifetime: string = REVALIDATED,
  ): Uint8Array | undefined {
    // Identity if the client accepts none, rather than 406 (RFC 9110 §12.4.1).
    const coding = preferredCoding(request.headers, CODINGS) ?? 'identity'
    const isFresh = isKnown(file.version, request.headers['if-none-match'])
    if (!isFresh && 'encrypted' in request.raw.socket) {
      reserve(reply, this.#encrypted, file[coding].length)
    }
    reply.headers({
      'cache-control': lifetime,
      'content-security-policy': file.policy,
      etag: `W/${entityTag(file.version)}`,
    })
    addVary(reply, 'Accept-Encoding')
    if (isFresh) {
      reply.code(304).removeHeader('content-type')
      return undefined
    }
    reply.header('content-type', file.type)
    if (coding !== 'identity') reply.header('content-encoding', coding)
    return file[coding]
  }
}
