import swagger, { type StaticDocumentSpec } from '@fastify/swagger'
import swaggerUi from '@fastify/swagger-ui'
import type { FastifyInstance } from 'fastify'
import type { ContractDocument } from '../contract/contract.ts'

const PREFIX = '/documentation'

/** Nothing from elsewhere, nothing inline but the styles that Swagger UI sets. */
const CONTENT_SECURITY_POLICY = {
  'default-src': ["'none'"],
  'script-src': ["'self'"],
  'style-src': ["'self'", "'unsafe-inline'"],
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

/**
 * Runs in the browser. The contract's server is `/`; behind a proxy that strips a prefix, the service
 * is where the page is.
 */
function belowThePage(request: Record<string, unknown>) {
  const { location } = globalThis as unknown as { location: { origin: string; pathname: string } }
  const base = location.pathname.replace(/\/documentation\/?.*$/, '')
  const { origin, pathname, search } = new URL(String(request.url), location.origin)
  if (origin === location.origin && !pathname.startsWith(`${base}/`)) {
    request.url = origin + base + pathname + search
  }
  return request
}
