import { readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import type { StaticDocumentSpec } from '@fastify/swagger'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { CONTRACT_FILE, type ContractDocument } from '../../../core/contract/contract.ts'
import { shareResult } from '../../../core/time/shared-result.ts'
import type { Config } from '../../config/config.ts'
import { getPath } from '../responses/request-log.ts'
import { compressFile, type StaticFile, type StaticFiles } from '../responses/static-file.ts'
import { prepareRequest, swaggerPlugin } from './docs-page.ts'
import { serveGuides } from './guides.ts'
import { type DocsSettings, servicePlugin } from './service-plugin.ts'

/** The path of the docs page. Its files are below it. */
export const DOCS_PATH = '/documentation'

const GUIDES_PATH = `${DOCS_PATH}/guides`

/** Without it, phones lay out the page for a desktop screen and shrink it to a third. */
const VIEWPORT = '<meta name="viewport" content="width=device-width, initial-scale=1">'

/** Only an upgrade changes Swagger UI. After one, a browser may mix old files with a new page for this long. */
const ONE_HOUR = 'max-age=3600'

const SCRIPT = 'application/javascript; charset=utf-8'

interface DocsFile {
  /** Revalidated by default. */
  readonly lifetime?: string
  /** The media type, if it differs from the plugin's. */
  readonly type?: string
  /** Reads the file, if the plugin would open it for each request or format it again. */
  readonly read?: () => Promise<Buffer>
  /** Where to redirect a request that has a query. */
  readonly withoutQuery?: string
}

/** The files to serve, by path relative to the page. The plugin has others, such as a page for arbitrary contracts. */
const FILES: Readonly<Record<string, DocsFile>> = {
  // With a query in its URL, the page would find neither its files nor the contract. The redirects are relative, so
  // that they work even if a proxy strips a prefix.
  '': { withoutQuery: `.${DOCS_PATH}` },
  '/': { withoutQuery: './' },
  // Neither media type has a charset: RFC 8259 §11, RFC 9512 §2.1.
  '/json': { type: 'application/json' },
  '/yaml': { type: 'application/yaml', read: () => readFile(CONTRACT_FILE) },
  '/static/swagger-initializer.js': {},
  '/static/theme/docs.css': {},
  '/static/theme/docs.svg': {},
  '/static/index.css': swaggerUiFile('index.css', 'text/css; charset=utf-8'),
  '/static/swagger-ui.css': swaggerUiFile('swagger-ui.css', 'text/css; charset=utf-8'),
  '/static/swagger-ui-bundle.js': swaggerUiFile('swagger-ui-bundle.js', SCRIPT),
  '/static/swagger-ui-standalone-preset.js': swaggerUiFile(
    'swagger-ui-standalone-preset.js',
    SCRIPT,
  ),
}

/**
 * Serves Swagger UI with @fastify/swagger-ui, and below it the contract as `json` and `yaml`, and the guides. Each file
 * is compressed at the first request for it and kept in memory: the plugin would open its largest files for each
 * request, and compress none.
 */
export async function serveDocs(
  app: FastifyInstance,
  files: StaticFiles,
  config: Config,
  contract: ContractDocument,
): Promise<void> {
  serveGuides(app, GUIDES_PATH, files, config.page)
  const open = { open: true }
  app.route({
    method: ['GET', 'HEAD'],
    url: `${DOCS_PATH}/*`,
    config: open,
    handler: (_request, reply) => reply.callNotFound(),
  })
  const [{ default: swagger }, { default: swaggerUi }] = await Promise.all([
    import('@fastify/swagger'),
    import('@fastify/swagger-ui'),
  ])
  await app.register(async (scope) => {
    scope.addHook('onRoute', (route) => {
      route.method = ['GET', 'HEAD']
      route.config = { ...route.config, ...open }
    })
    keepInMemory(scope, files)
    const specification = { document: contract } as unknown as StaticDocumentSpec
    await scope.register(swagger, { mode: 'static', specification })
    await scope.register(swaggerUi, {
      routePrefix: DOCS_PATH,
      // Relative, so that the page finds its files even if a proxy strips a prefix.
      indexPrefix: '.',
      theme: {
        title: contract.info.title,
        css: [readAsset('docs.css')],
        favicon: [{ ...readAsset('docs.svg'), rel: 'icon', type: 'image/svg+xml', sizes: 'any' }],
      },
      // Swagger UI's logo has no alternative text. The stylesheet and the plugin replace it.
      logo: null as never,
      uiConfig: {
        plugins: [swaggerPlugin, servicePlugin],
        syntaxHighlight: { theme: 'obsidian' },
        defaultModelsExpandDepth: 0,
        persistAuthorization: true,
        tryItOutEnabled: true,
        displayRequestDuration: true,
        requestInterceptor: prepareRequest,
        ...docsSettings(config),
      },
    })
  })
}

function docsSettings(config: Config): DocsSettings {
  const { page, oidcIssuer, oidcAudience, oidcClientId, oidcReadScope, oidcWriteScope } = config
  const links = [{ text: 'Guides', path: `${GUIDES_PATH}/` }]
  if (page) links.push({ text: 'Plants', path: '/' })
  if (oidcIssuer === undefined) return { links }
  const signIn =
    page && oidcClientId !== undefined
      ? ' To use the plants without a token, [sign in on the page](/).'
      : ''
  const tokenHelp = `The service also accepts access tokens that ${oidcIssuer} issues for the audience \`${oidcAudience}\` \
with the scopes \`${oidcReadScope}\` and \`${oidcWriteScope}\`: get one with a client that is registered there, and \
paste it above. If you have no such client, ask the operator for a token of the service.${signIn}`
  return { links, tokenHelp }
}

/** Reads a file next to this one. */
function readAsset(filename: string): { filename: string; content: string } {
  return { filename, content: readFileSync(new URL(filename, import.meta.url), 'utf8') }
}

function swaggerUiFile(name: string, type: string): DocsFile {
  const read = () => readFile(new URL(import.meta.resolve(`@fastify/swagger-ui/static/${name}`)))
  return { type, read, lifetime: ONE_HOUR }
}

function fileOf(request: FastifyRequest): DocsFile | undefined {
  const path = getPath(request).slice(DOCS_PATH.length)
  return Object.hasOwn(FILES, path) ? FILES[path] : undefined
}

/** Makes a scope compress each file once, and send it in the coding that a client prefers. */
function keepInMemory(scope: FastifyInstance, files: StaticFiles): void {
  const loaders = new Map<DocsFile, () => Promise<StaticFile>>()
  const createLoader = (file: DocsFile, type: string, payload: string) => {
    const isPage = type.startsWith('text/html')
    const read = file.read ?? (async () => Buffer.from(isPage ? withViewport(payload) : payload))
    // If it cannot be read, as for lack of descriptors, the next request tries again.
    const load = shareResult(async () => compressFile(type, await read()), Number.POSITIVE_INFINITY)
    loaders.set(file, load)
    return load
  }

  scope.addHook('onRequest', (request, reply, next) => {
    const file = fileOf(request)
    if (file === undefined) reply.callNotFound()
    else if (file.withoutQuery !== undefined && request.url !== getPath(request)) {
      reply.redirect(file.withoutQuery)
    } else if (loaders.has(file) || file.read !== undefined) {
      // The plugin is not needed: the other hook replaces the content.
      reply.send('')
    } else next()
  })

  scope.addHook('onSend', async (request, reply, payload) => {
    const file = fileOf(request)
    if (file === undefined || reply.statusCode !== 200) return payload
    const type = file.type ?? String(reply.getHeader('content-type'))
    const load = loaders.get(file) ?? createLoader(file, type, String(payload))
    const content = await load()
    // After `undefined`, Fastify would send what it was given before.
    return files.respond(request, reply, content, file.lifetime) ?? null
  })
}

function withViewport(html: string): string {
  return html.replace('<head>', `<head>${VIEWPORT}`)
}
