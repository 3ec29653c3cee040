import type { FastifyInstance } from 'fastify'
import type { Config } from '../config/config.ts'
import { sendJson } from './responses/response.ts'
import type { Certificate } from './sockets/certificate.ts'
import { addressOf, localUrl } from './sockets/listener.ts'

const METADATA_PATH = '/.well-known/oauth-protected-resource'

/** The service as a resource that the configured issuer protects (RFC 9728). Clients learn from it where to sign in. */
export class ProtectedResource {
  readonly #config: Config
  #url: string

  /** @param certificate undefined for plain HTTP */
  constructor(app: FastifyInstance, config: Config, certificate: Certificate | undefined) {
    this.#config = config
    this.#url = config.publicUrl ?? ''
    app.server.once('listening', () => {
      this.#url ||= localUrl(addressOf(app.server), certificate)
    })
  }

  /** The URL of the metadata, for challenges (RFC 9728 §5.1). Its path is inserted before that of the service (§3). */
  get metadataUrl(): string {
    return this.#url.replace(/^\w+:\/\/[^/]+/, `$&${METADATA_PATH}`)
  }

  /** Serves the metadata. It needs no token. */
  serve(app: FastifyInstance): void {
    const { oidcIssuer, oidcReadScope, oidcWriteScope } = this.#config
    app.route({
      method: ['GET', 'HEAD'],
      url: METADATA_PATH,
      config: { open: true },
      handler: (_request, reply) => {
        const metadata = {
          resource: this.#url,
          authorization_servers: [oidcIssuer],
          scopes_supported: [oidcReadScope, oidcWriteScope],
          bearer_methods_supported: ['header'],
        }
        return sendJson(reply, 200, JSON.stringify(metadata))
      },
    })
  }
}
