import { hash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import zlib from 'node:zlib'
import type { FastifyInstance, RouteHandlerMethod } from 'fastify'
import { CONTRACT_FILE, type ContractDocument } from '../../../contract/contract.ts'
import { ByteBudget, type Now } from '../byte-budget.ts'
import { entityTag, isKnown } from '../operations/conditional.ts'
import { reserve } from '../operations/response.ts'
import { addVary } from '../operations/response-headers.ts'
import { preferredCoding } from '../request/accept.ts'
import { getPath } from '../request/request-head.ts'

/** The path of the docs page. Its files are below it. */
export const DOCS_PATH = '/documentation'

const HTML = 'text/html; charset=utf-8'
const SCRIPT = 'application/javascript; charset=utf-8'
const STYLE = 'text/css; charset=utf-8'

/** Revalidated before each use, so that the docs match the running service. */
const REVALIDATED = 'no-cache'

/** Only an upgrade changes Swagger UI. After one, a browser may mix old files with a new page for this long. */
const ONE_HOUR = 'max-age=3600'

/** Content codings (RFC 9110 §8.4.1), best first. */
const CODINGS = ['br', 'gzip', 'identity'] as const

/** Qualities above 9 save another tenth, but take seconds for Swagger UI's bundle. */
const BROTLI = { params: { [zlib.constants.BROTLI_PARAM_QUALITY]: 8 } }

/** They run in the thread pool. */
const toBrotli = promisify<zlib.InputType, zlib.BrotliOptions, Buffer>(zlib.brotliCompress)
const toGzip = promisify(zlib.gzip)

/**
 * The limit on all docs responses in flight over TLS, where each response is encrypted into its own memory. Over plain
 * HTTP, responses share the files in memory.
 */
const ENCRYPTED_BYTES_MAX = 2 ** 25

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

interface DocsFile {
  readonly type: string
  readonly read: () => Promise<Buffer>
  /** Revalidated by default. */
  readonly lifetime?: string
  /** Where to redirect a request that has a query. */
  readonly withoutQuery?: string
}

/** A file in each coding. */
interface CodedFile extends Readonly<Record<(typeof CODINGS)[number], Buffer>> {
  /** The same for each coding, so its entity tag is weak (RFC 9110 §8.8.1). */
  readonly version: string
}

/**
 * Serves Swagger UI, and the contract below it as `json` and `yaml`, from memory. `/` redirects to it. A file is read and
 * compressed at the first request for it. Registering @fastify/swagger-ui would take 35 ms of each thread's start, and
 * open a file for each request.
 *
 * @param threads how many threads share the process's limits
 */
export function serveDocs(
  app: FastifyInstance,
  contract: ContractDocument,
  threads: number,
  now?: Now,
): void {
  const encrypted = new ByteBudget(ENCRYPTED_BYTES_MAX / threads, now)
  const get = (url: string, handler: RouteHandlerMethod) =>
    app.route({ method: ['GET', 'HEAD'], url, config: { open: true }, handler })

  get('/', (_request, reply) => reply.redirect(`.${DOCS_PATH}`))
  get(`${DOCS_PATH}/*`, (_request, reply) => reply.callNotFound())
  for (const [path, file] of Object.entries(docsFiles(contract))) {
    get(DOCS_PATH + path, serveFile(file, encrypted))
  }
}

/** The files to serve, by path relative to the page. Swagger UI has others, such as a page for arbitrary contracts. */
function docsFiles(contract: ContractDocument): Readonly<Record<string, DocsFile>> {
  const page = readOurs('index.html')
  // The links of the page are relative, so that they work even if a proxy strips a prefix.
  const pageWithoutSlash = async () =>
    Buffer.from(String(await page()).replaceAll('./static/', `.${DOCS_PATH}/static/`))
  return {
    // With a query in its URL, the page would find neither its files nor the contract.
    '': { type: HTML, read: pageWithoutSlash, withoutQuery: `.${DOCS_PATH}` },
    '/': { type: HTML, read: page, withoutQuery: './' },
    // Neither media type has a charset: RFC 8259 §11, RFC 9512 §2.1.
    '/json': { type: 'application/json', read: async () => Buffer.from(JSON.stringify(contract)) },
    '/yaml': { type: 'application/yaml', read: () => readFile(CONTRACT_FILE) },
    '/static/swagger-initializer.js': { type: SCRIPT, read: readOurs('swagger-initializer.js') },
    '/static/theme/docs.css': { type: STYLE, read: readOurs('docs.css') },
    '/static/theme/docs.svg': { type: 'image/svg+xml', read: readOurs('docs.svg') },
    '/static/index.css': swaggerUi('index.css', STYLE),
    '/static/swagger-ui.css': swaggerUi('swagger-ui.css', STYLE),
    '/static/swagger-ui-bundle.js': swaggerUi('swagger-ui-bundle.js', SCRIPT),
    '/static/swagger-ui-standalone-preset.js': swaggerUi('swagger-ui-standalone-preset.js', SCRIPT),
  }
}

/** Reads a file next to this one. */
function readOurs(name: string): () => Promise<Buffer> {
  return () => readFile(new URL(name, import.meta.url))
}

function swaggerUi(name: string, type: string): DocsFile {
  const url = new URL(import.meta.resolve(`@fastify/swagger-ui/static/${name}`))
  return { type, read: () => readFile(url), lifetime: ONE_HOUR }
}

function serveFile(
  { type, read, lifetime = REVALIDATED, withoutQuery }: DocsFile,
  encrypted: ByteBudget,
): RouteHandlerMethod {
  let coded: Promise<CodedFile> | undefined
  return async (request, reply) => {
    if (withoutQuery !== undefined && request.url !== getPath(request)) {
      return reply.redirect(withoutQuery)
    }
    coded ??= encode(read).catch((error) => {
      // The next request tries again.
      coded = undefined
      throw error
    })
    const file = await coded
    const isFresh = isKnown(file.version, request.headers['if-none-match'])
    // Identity if the client accepts none, rather than 406 (RFC 9110 §12.4.1).
    const coding = preferredCoding(request.headers, CODINGS) ?? 'identity'
    const content = file[coding]
    if (!isFresh && 'encrypted' in request.raw.socket) reserve(reply, encrypted, content.length)
    reply.headers({
      'cache-control': lifetime,
      'content-security-policy': CONTENT_SECURITY_POLICY,
      etag: `W/${entityTag(file.version)}`,
    })
    addVary(reply, 'Accept-Encoding')
    if (isFresh) return reply.code(304).send()
    if (coding !== 'identity') reply.header('content-encoding', coding)
    return reply.header('content-type', type).send(content)
  }
}

async function encode(read: () => Promise<Buffer>): Promise<CodedFile> {
  const identity = await read()
  const [br, gzip] = await Promise.all([toBrotli(identity, BROTLI), toGzip(identity)])
  return { br, gzip, identity, version: hash('sha256', identity, 'base64url') }
}
