/** The part of negotiator that we use. `@types/negotiator` lacks `preferred`. */
declare module 'negotiator' {
  export default class Negotiator {
    constructor(request: { readonly headers: import('node:http').IncomingHttpHeaders })

    /**
     * The best of the available content codings that `Accept-Encoding` allows, if it allows any.
     *
     * @param options `preferred` breaks ties between codings that the client accepts equally
     */
    encoding<Coding extends string>(
      available: readonly Coding[],
      options: { readonly preferred: readonly Coding[] },
    ): Coding | undefined

    /** The best of the available media types that `Accept` allows, if it allows any. The first one breaks ties. */
    mediaType<Type extends string>(available: readonly Type[]): Type | undefined
  }
}
