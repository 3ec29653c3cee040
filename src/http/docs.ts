import type { FastifyInstance, RouteHandlerMethod } from 'fastify'
import type { ContractDocument } from '../contract/contract.ts'
import { reserve } from './api-error.ts'
import { ByteBudget } from './byte-budget.ts'
import { cachedFile, type File } from './cached-file.ts'
import { entityTag, isKnown } from './conditional.ts'
import { once } from './once.ts'
import { pathOf } from './path.ts'

/** The path of the docs. All their files are below it. */
export const DOCS_PATH = '/documentation'

/** Revalidated before each use, so that the docs match the running service. */
const CHECKED = 'no-cache'

/** Only an upgrade changes Swagger UI. Afterwards, a browser may mix old files with a new page for this long. */
const AN_HOUR = 'max-age=3600'

/**
 * Bytes of all docs responses in flight over TLS, where each response is encrypted into its own memory. Over plain
 * HTTP, responses share the files in memory.
 */
const ENCRYPTED_BYTES_MAX = 2 ** 25

interface Served {
  readonly lifetime: string
  /** The media type, if it differs from Swagger UI's. */
  readonly type?: string
  /** Where a request with a query is redirected to. */
  readonly withoutQuery?: string
}

/** By path, relative to the page. Swagger UI has more files, including a page for arbitrary contracts. */
const FILES: Readonly<Record<string, Served>> = {
  // With a query in its URL, the page would find neither its files nor the contract. The redirects are
  // relative so that they work behind a proxy that strips a prefix.
  '': { lifetime: CHECKED, withoutQuery: `.${DOCS_PATH}` },
  '/': { lifetime: CHECKED, withoutQuery: './' },
  // Neither media type has a charset: RFC 8259 §11, RFC 9512 §2.1.
  '/json': { lifetime: CHECKED, type: 'application/json' },
  '/yaml': { lifetime: CHECKED, type: 'application/yaml' },
  '/static/swagger-initializer.js': { lifetime: CHECKED },
  '/static/theme/docs.css': { lifetime: CHECKED },
  '/static/theme/docs.svg': { lifetime: CHECKED },
  '/static/index.css': { lifetime: AN_HOUR },
  '/static/swagger-ui-bundle.js': { lifetime: AN_HOUR },
  '/static/swagger-ui-standalone-preset.js': { lifetime: AN_HOUR },
  '/static/swagger-ui.css': { lifetime: AN_HOUR },
}

/** Nothing from third parties and nothing inline, except for icons. */
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
 * Serves Swagger UI, and the contract below it as `json` and `yaml`, from memory. The root redirects there. Swagger UI
 * is loaded on the first request for any of them.
 */
export function serveDocs(app: FastifyInstance, document: ContractDocument): void {
  const encrypted = new ByteBudget(ENCRYPTED_BYTES_MAX)
  const open = once(async () => {
    const { openDocs } = await import('./docs-source.ts')
    return openDocs(document, DOCS_PATH)
  })
  const get = (url: string, handler: RouteHandlerMethod) =>
    app.route({ method: ['GET', 'HEAD'], url, config: { open: true }, handler })

  get('/', (_request, reply) => reply.redirect(`.${DOCS_PATH}`))
  get(`${DOCS_PATH}/*`, (_request, reply) => reply.callNotFound())
  for (const [name, served] of Object.entries(FILES)) {
    const url = DOCS_PATH + name
    const read = async () => {
      const file = await (await open())(url)
      return { ...file, type: served.type ?? file.type }
    }
    get(url, serveFile(served, read, encrypted))
  }
}

function serveFile(
  { lifetime, withoutQuery }: Served,
  read: () => Promise<File>,
  encrypted: ByteBudget,
): RouteHandlerMethod {
  const variantFor = cachedFile(read)
  return async (request, reply) => {
    if (withoutQuery !== undefined && request.url !== pathOf(request)) {
      return reply.redirect(withoutQuery)
    }
    const { type, coding, content, version } = await variantFor(request.headers)
    const known = isKnown(version, request.headers['if-none-match'])
    if (!known && 'encrypted' in request.raw.socket) reserve(reply, encrypted, content.length)
    reply.headers({
      'cache-control': lifetime,
      'content-security-policy': CONTENT_SECURITY_POLICY,
      etag: entityTag(version),
      vary: 'Accept-Encoding',
    })
    if (known) return reply.code(304).send()
    if (coding !== 'identity') reply.header('content-encoding', coding)
    return reply.header('content-type', type).send(content)
  }
}
