import { readFileSync } from 'node:fs'
import swagger, { type StaticDocumentSpec } from '@fastify/swagger'
import swaggerUi from '@fastify/swagger-ui'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { ContractDocument } from '../contract/contract.ts'
import { belowThePage, plantStorePage } from './docs-page.ts'
import { pathOf } from './path.ts'

const PREFIX = '/documentation'
const PAGE = [PREFIX, `${PREFIX}/`]

/** By path, with media types that have no charset: RFC 8259 §11, RFC 9512 §2.1. */
const CONTRACT = new Map([
  [`${PREFIX}/json`, 'application/json'],
  [`${PREFIX}/yaml`, 'application/yaml'],
])

/** What the page loads. Swagger UI's folder has more, down to a page for other people's contracts. */
const PARTS = [
  'index.css',
  'swagger-initializer.js',
  'swagger-ui-bundle.js',
  'swagger-ui-standalone-preset.js',
  'swagger-ui.css',
  'theme/docs.css',
  'theme/docs.svg',
]

const SERVED = new Set([
  ...PAGE,
  ...CONTRACT.keys(),
  ...PARTS.map((part) => `${PREFIX}/static/${part}`),
])

/** Without it a phone shows the page as it is on a desk, a third of the size. */
const VIEWPORT = '<meta name="viewport" content="width=device-width, initial-scale=1">'

/** Nothing from elsewhere and nothing inline, but for the icons. */
const CONTENT_SECURITY_POLICY = {
  'default-src': ["'none'"],
  'script-src': ["'self'"],
  'style-src': ["'self'"],
  'img-src': ["'self'", 'data:'],
  'connect-src': ["'self'"],
  'base-uri': ["'none'"],
  'form-action': ["'none'"],
  'frame-ancestors': ["'none'"],
}

/** Swagger UI with the contract, and the contract itself below it as `json` and `yaml`. The root leads there. */
export async function serveDocs(app: FastifyInstance, document: ContractDocument): Promise<void> {
  app.get('/', { config: { open: true } }, (_request, reply) => reply.redirect(`.${PREFIX}`))
  await app.register(async (scope) => {
    scope.addHook('onRoute', (route) => {
      route.config = { ...route.config, open: true }
    })
    scope.addHook('onRequest', (request, reply, next) => {
      const path = pathOf(request)
      if (!SERVED.has(path)) return answerNotFound(request, reply)
      if (path === request.url || !PAGE.includes(path)) return next()
      // With a query Swagger UI finds neither its parts nor the contract. The redirect is relative, so
      // that it stays below the prefix of a proxy.
      reply.redirect(`./${path.slice(path.lastIndexOf('/') + 1)}`)
    })
    scope.addHook('onSend', async (request, reply, payload) => {
      const path = pathOf(request)
      const type = CONTRACT.get(path)
      if (type !== undefined) reply.header('content-type', type)
      return PAGE.includes(path) ? String(payload).replace('<head>', `<head>${VIEWPORT}`) : payload
    })
    scope.get(`${PREFIX}/*`, answerNotFound)
    const specification = { document } as unknown as StaticDocumentSpec
    await scope.register(swagger, { mode: 'static', specification })
    await scope.register(swaggerUi, {
      routePrefix: PREFIX,
      // Relative, so that the page finds its parts behind a proxy that strips a prefix.
      indexPrefix: '.',
      staticCSP: CONTENT_SECURITY_POLICY,
      theme: {
        title: document.info.title,
        css: [own('docs.css')],
        favicon: [{ ...own('docs.svg'), rel: 'icon', type: 'image/svg+xml', sizes: 'any' }],
      },
      // None, as it would have no text for those who cannot see it; the stylesheet and the plugin have it.
      logo: null as never,
      uiConfig: {
        plugins: [plantStorePage],
        syntaxHighlight: { theme: 'obsidian' },
        defaultModelsExpandDepth: 0,
        persistAuthorization: true,
        tryItOutEnabled: true,
        displayRequestDuration: true,
        requestInterceptor: belowThePage,
      },
    })
  })
}

function answerNotFound(_request: FastifyRequest, reply: FastifyReply): void {
  reply.callNotFound()
}

/** A file beside this one. */
function own(filename: string): { filename: string; content: string } {
  return { filename, content: readFileSync(new URL(filename, import.meta.url), 'utf8') }
}
