import swagger, { type StaticDocumentSpec } from '@fastify/swagger'
import swaggerUi from '@fastify/swagger-ui'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { ContractDocument } from '../contract/contract.ts'
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
  'favicon-16x16.png',
  'favicon-32x32.png',
  'index.css',
  'swagger-initializer.js',
  'swagger-ui-bundle.js',
  'swagger-ui-standalone-preset.js',
  'swagger-ui.css',
]

const SERVED = new Set([
  ...PAGE,
  ...CONTRACT.keys(),
  ...PARTS.map((part) => `${PREFIX}/static/${part}`),
])

/** Nothing from elsewhere and nothing inline, but for the icons and the one style of Swagger UI. */
const CONTENT_SECURITY_POLICY = {
  'default-src': ["'none'"],
  'script-src': ["'self'"],
  'style-src': ["'self'", "'sha256-RL3ie0nH+Lzz2YNqQN83mnU0J1ot4QL7b99vMdIX99w='"],
  'img-src': ["'self'", 'data:'],
  'connect-src': ["'self'"],
  'base-uri': ["'none'"],
  'form-action': ["'none'"],
  'frame-ancestors': ["'none'"],
}

/** Swagger UI with the contract, and the contract itself below it as `json` and `yaml`. */
export async function serveDocs(app: FastifyInstance, document: ContractDocument): Promise<void> {
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
      reply.redirect(path.replace(/.*\//, './'))
    })
    scope.addHook('onSend', async (request, reply) => {
      const type = CONTRACT.get(pathOf(request))
      if (type !== undefined) reply.header('content-type', type)
    })
    scope.get(`${PREFIX}/*`, answerNotFound)
    const specification = { document } as unknown as StaticDocumentSpec
    await scope.register(swagger, { mode: 'static', specification })
    await scope.register(swaggerUi, {
      routePrefix: PREFIX,
      // Relative, so that the page finds its parts behind a proxy that strips a prefix.
      indexPrefix: '.',
      staticCSP: CONTENT_SECURITY_POLICY,
      theme: { title: document.info.title },
      uiConfig: {
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

/**
 * Runs in the browser, made from its own text, so it can use nothing from around it. The contract's
 * server is `/`; behind a proxy that strips a prefix, the service is where the page is. The contract
 * itself (`loadSpec`) is asked for there already.
 */
export function belowThePage(request: Record<string, unknown>): Record<string, unknown> {
  const { location } = globalThis as unknown as { location: { origin: string; pathname: string } }
  const [, prefix = ''] = /^(.*)\/documentation\/?$/.exec(location.pathname) ?? []
  const { origin, pathname, search } = new URL(String(request.url), location.origin)
  if (origin === location.origin && request.loadSpec !== true) {
    request.url = origin + prefix + pathname + search
  }
  return request
}
