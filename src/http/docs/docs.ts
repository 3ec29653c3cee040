import { readFile } from 'node:fs/promises'
import type { FastifyInstance, RouteHandlerMethod } from 'fastify'
import { CONTRACT_FILE, type ContractDocument } from '../../../contract/contract.ts'
import { entityTag, isKnown } from '../operations/conditional.ts'
import { reserve } from '../operations/response.ts'
import { addVary } from '../operations/response-headers.ts'
import { ByteBudget, type Clock } from '../request/byte-budget.ts'
import { getPath } from '../server/request-head.ts'
import { cachedFile, type File } from './cached-file.ts'
import { memoize } from './memoize.ts'

/** The path of the docs page. Its files are below it. */
export const DOCS_PATH = '/documentation'

/** Revalidated before each use, so that the docs match the running service. */
const REVALIDATED = 'no-cache'

/** Only an upgrade changes Swagger UI. After one, a browser may mix old files with a new page for this long. */
const ONE_HOUR = 'max-age=3600'

/**
 * The limit on all docs responses in flight over TLS, where each response is encrypted into its own memory. Over plain
 * HTTP, responses share the files in memory.
 */
const ENCRYPTED_BYTES_MAX = 2 ** 25

interface DocsFile {
  readonly lifetime: string
  /** The media type, if it differs from Swagger UI's. */
  readonly type?: string
  /** The file itself, if it is not Swagger UI's. */
  readonly file?: URL
  /** Where to redirect a request that has a query. */
  readonly withoutQuery?: string
}

/** The files to serve, by path relative to the page. Swagger UI has others, such as a page for arbitrary contracts. */
const FILES: Readonly<Record<string, DocsFile>> = {
  // With a query in its URL, the page would find neither its files nor the contract. The redirects are relative, so
  // that they work even if a proxy strips a prefix.
  '': { lifetime: REVALIDATED, withoutQuery: `.${DOCS_PATH}` },
  '/': { lifetime: REVALIDATED, withoutQuery: './' },
  // Neither media type has a charset: RFC 8259 §11, RFC 9512 §2.1.
  '/json': { lifetime: REVALIDATED, type: 'application/json' },
  // Not Swagger UI's, which formats the parsed contract again.
  '/yaml': { lifetime: REVALIDATED, type: 'application/yaml', file: CONTRACT_FILE },
  '/static/swagger-initializer.js': { lifetime: REVALIDATED },
  '/static/theme/docs.css': { lifetime: REVALIDATED },
  '/static/theme/docs.svg': { lifetime: REVALIDATED },
  '/static/index.css': { lifetime: ONE_HOUR },
  '/static/swagger-ui-bundle.js': { lifetime: ONE_HOUR },
  '/static/swagger-ui-standalone-preset.js': { lifetime: ONE_HOUR },
  '/static/swagger-ui.css': { lifetime: ONE_HOUR },
}

/** The page loads nothing from third parties, and nothing inline except icons. */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

/**
 * Serves Swagger UI, and the contract below it as `json` and `yaml`, from memory. `/` redirects to it. Swagger UI is
 * loaded on the first request for any of them.
 *
 * @param threads how many threads share the process's limits
 */
export function serveDocs(
  app: FastifyInstance,
  document: ContractDocument,
  threads: number,
  now?: Clock,
): void {
  const encrypted = new ByteBudget(ENCRYPTED_BYTES_MAX / threads, now)
  const loadDocs = memoize(async () => {
    const { openDocs } = await import('./docs-source.ts')
    return openDocs(document, DOCS_PATH)
  })
  const get = (url: string, handler: RouteHandlerMethod) =>
    app.route({ method: ['GET', 'HEAD'], url, config: { open: true }, handler })

  get('/', (_request, reply) => reply.redirect(`.${DOCS_PATH}`))
  get(`${DOCS_PATH}/*`, (_request, reply) => reply.callNotFound())
  for (const [name, entry] of Object.entries(FILES)) {
    const url = DOCS_PATH + name
    const read = async () => {
      if (entry.file !== undefined) {
        return { type: String(entry.type), content: await readFile(entry.file) }
      }
      const file = await (await loadDocs())(url)
      return { ...file, type: entry.type ?? file.type }
    }
    get(url, serveFile(entry, read, encrypted))
  }
}

function serveFile(
  { lifetime, withoutQuery }: DocsFile,
  read: () => Promise<File>,
  encrypted: ByteBudget,
): RouteHandlerMethod {
  const variantFor = cachedFile(read)
  return async (request, reply) => {
    if (withoutQuery !== undefined && request.url !== getPath(request)) {
      return reply.redirect(withoutQuery)
    }
    const { type, coding, content, version } = await variantFor(request.headers)
    const isFresh = isKnown(version, request.headers['if-none-match'])
    if (!isFresh && 'encrypted' in request.raw.socket) reserve(reply, encrypted, content.length)
    reply.headers({
      'cache-control': lifetime,
      'content-security-policy': CONTENT_SECURITY_POLICY,
      etag: entityTag(version),
    })
    addVary(reply, 'Accept-Encoding')
    if (isFresh) return reply.code(304).send()
    if (coding !== 'identity') reply.header('content-encoding', coding)
    return reply.header('content-type', type).send(content)
  }
}
