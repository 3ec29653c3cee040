/** The part of oidc-provider that we use. `@types/oidc-provider` brings those of Express and Koa. */
declare module 'oidc-provider' {
  export default class Provider {
    constructor(issuer: string, configuration: object)
    callback(): import('node:http').RequestListener
  }
}
