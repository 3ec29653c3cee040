/** The part of oidc-provider that we use. `@types/oidc-provider` brings those of Express and Koa. */
declare module 'oidc-provider' {
  import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'

  export default class Provider {
    readonly Grant: new (properties: {
      accountId: string
      clientId: string
    }) => Grant
    constructor(issuer: string, configuration: object)
    callback(): RequestListener
    interactionFinished(
      request: IncomingMessage,
      response: ServerResponse,
      result: object,
    ): Promise<void>
  }

  export interface Grant {
    addOIDCScope(scope: string): void
    addResourceScope(resource: string, scope: string): void
    rejectResourceScope(resource: string, scope: string): void
    save(): Promise<string>
  }
}
