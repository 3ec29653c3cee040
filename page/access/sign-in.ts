import {
  AuthorizationResponseError,
  type AuthorizationServer,
  allowInsecureRequests,
  authorizationCodeGrantRequest,
  type Client,
  calculatePKCECodeChallenge,
  discoveryRequest,
  generateRandomCodeVerifier,
  generateRandomNonce,
  generateRandomState,
  getValidatedIdTokenClaims,
  type IDToken,
  type JsonValue,
  None,
  processAuthorizationCodeResponse,
  processDiscoveryResponse,
  processRefreshTokenResponse,
  ResponseBodyError,
  refreshTokenGrantRequest,
  type TokenEndpointResponse,
  validateAuthResponse,
} from 'oauth4webapi'
import type { SignInSettings } from '../../core/page-settings.ts'
import { SignInError } from '../errors/sign-in-error.ts'
import { FreshToken } from './fresh-token.ts'
import { isResponse, pageUrl } from './page-url.ts'
import { subjectId } from './token-text.ts'

/** Of each request to the issuer. */
const TIMEOUT_MS = 10_000

/** The key in the tab's storage while the person is at the issuer. */
const KEY = 'plant-store-sign-in'

/** The issuer asks the client to wait. */
const TOO_MANY_REQUESTS = 429

/** The claims that name a person, best first (OpenID Connect Core 1.0 §5.1). */
const NAMES = ['name', 'preferred_username', 'email']

/** What must be known to accept the issuer's response. */
interface PendingRequest {
  readonly state: string
  readonly nonce: string
  readonly verifier: string
  /** The fragment of the page's URL, which says what the page shows. */
  readonly fragment: string
}

/** Somebody who has signed in. */
export interface Person {
  /** The same at each sign-in, and nobody else's. */
  readonly id: string
  /** Undefined if the issuer does not say. */
  readonly name: string | undefined
  /**
   * Resolves to a valid access token.
   *
   * @throws SignInError
   */
  accessToken(): Promise<string>
  /**
   * Where the person signs out at the issuer, which can ask for confirmation. Without an `id_token_hint` (OpenID Connect
   * RP-Initiated Logout 1.0 §2), because browsers, proxies and logs keep URLs. Undefined if the issuer does not offer it.
   */
  signOutUrl(): URL | undefined
}

/** Signs people in with an OpenID Connect issuer: authorization code with PKCE (RFC 7636), as a public client. */
export class SignIn {
  readonly #settings: SignInSettings
  readonly #client: Client
  /** For an issuer that accepts several (RFC 8707), which must be URIs. */
  readonly #resource: Record<string, string>

  constructor(settings: SignInSettings) {
    this.#settings = settings
    this.#client = { client_id: settings.clientId }
    const { audience } = settings
    this.#resource = URL.canParse(audience) ? { resource: audience } : {}
  }

  /** The host of the issuer. */
  get host(): string {
    return new URL(this.#settings.issuer).host
  }

  /**
   * Prepares the tab for the issuer's response.
   *
   * @returns the URL of the issuer at which the person signs in
   * @throws SignInError
   */
  begin(): Promise<URL> {
    return this.#explainFailures(async () => {
      if (!isSecureContext) {
        throw new SignInError('failed', 'Signing in requires HTTPS. Open this page at https://.')
      }
      const { authorization_endpoint: endpoint = '' } = await this.#discover()
      const verifier = generateRandomCodeVerifier()
      const state = generateRandomState()
      const nonce = generateRandomNonce()
      const request: PendingRequest = { state, nonce, verifier, fragment: location.hash }
      sessionStorage.setItem(KEY, JSON.stringify(request))
      return withParameters(endpoint, {
        ...this.#resource,
        client_id: this.#settings.clientId,
        response_type: 'code',
        redirect_uri: pageUrl().href,
        scope: ['openid profile email', ...this.#settings.scopes].join(' '),
        state,
        nonce,
        code_challenge: await calculatePKCECodeChallenge(verifier),
        code_challenge_method: 'S256',
      })
    })
  }

  /**
   * Reads the issuer's response from the page's URL, and removes it there.
   *
   * @returns undefined if there is none
   * @throws SignInError
   */
  async finish(): Promise<Person | undefined> {
    if (!isResponse()) return undefined
    const parameters = new URLSearchParams(location.search)
    const request = takeRequest()
    // Otherwise a reload or a bookmark would repeat it.
    history.replaceState(null, '', pageUrl().href + (request?.fragment ?? ''))
    return this.#explainFailures(async () => {
      if (request === undefined || request.state !== parameters.get('state')) {
        const message = 'Signing in was not started in this tab, or took too long. Sign in again.'
        throw new SignInError('failed', message)
      }
      const server = await this.#discover()
      const client = this.#client
      const code = validateAuthResponse(server, client, parameters, request.state)
      const redirectUri = pageUrl().href
      const { verifier, nonce: expectedNonce } = request
      const response = await authorizationCodeGrantRequest(
        server,
        client,
        None(),
        code,
        redirectUri,
        verifier,
        this.#options(),
      )
      const checks = { expectedNonce, requireIdToken: true }
      const tokens = await processAuthorizationCodeResponse(server, client, response, checks)
      return this.#toPerson(server, tokens)
    })
  }

  #toPerson(server: AuthorizationServer, tokens: TokenEndpointResponse): Person {
    // The response was required to have an ID token.
    const claims = getValidatedIdTokenClaims(tokens) as IDToken
    const token = new FreshToken(tokens, (refreshToken) => this.#refresh(server, refreshToken))
    return {
      id: subjectId(claims),
      name: NAMES.map((name) => claims[name]).find(isName),
      accessToken: () => token.get(),
      signOutUrl: () =>
        server.end_session_endpoint === undefined
          ? undefined
          : withParameters(server.end_session_endpoint, {
              client_id: this.#settings.clientId,
              post_logout_redirect_uri: pageUrl().href,
            }),
    }
  }

  async #refresh(
    server: AuthorizationServer,
    refreshToken: string,
  ): Promise<TokenEndpointResponse> {
    const client = this.#client
    const options = this.#options()
    try {
      const response = await refreshTokenGrantRequest(server, client, None(), refreshToken, options)
      return await processRefreshTokenResponse(server, client, response)
    } catch (cause) {
      if (cause instanceof ResponseBodyError && cause.status !== TOO_MANY_REQUESTS) {
        throw new SignInError('ended', 'Your session has ended.', { cause })
      }
      const message = `Your session cannot be extended, because ${this.host} is unavailable.`
      throw new SignInError('unavailable', message, { cause })
    }
  }

  async #discover(): Promise<AuthorizationServer> {
    const issuer = new URL(this.#settings.issuer)
    return processDiscoveryResponse(issuer, await discoveryRequest(issuer, this.#options()))
  }

  #options() {
    // The service accepts such an issuer only on its own machine.
    const isInsecure = this.#settings.issuer.startsWith('http:')
    return {
      signal: AbortSignal.timeout(TIMEOUT_MS),
      additionalParameters: this.#resource,
      [allowInsecureRequests]: isInsecure,
    }
  }

  async #explainFailures<Result>(action: () => Promise<Result>): Promise<Result> {
    try {
      return await action()
    } catch (cause) {
      if (cause instanceof SignInError) throw cause
      throw new SignInError('failed', explain(cause, this.host), { cause })
    }
  }
}

/** Each request has one response. */
function takeRequest(): PendingRequest | undefined {
  const json = sessionStorage.getItem(KEY)
  sessionStorage.removeItem(KEY)
  return json === null ? undefined : JSON.parse(json)
}

function explain(error: unknown, host: string): string {
  if (error instanceof AuthorizationResponseError || error instanceof ResponseBodyError) {
    if (error.error === 'access_denied') return 'Signing in was canceled.'
    if (error.error === 'invalid_grant') return 'Signing in took too long. Sign in again.'
    return `${host} cannot sign you in: ${error.error_description ?? error.error}`
  }
  // The library's own errors have codes.
  if (!(error instanceof Error) || !('code' in error) || error instanceof DOMException) {
    return `${host} cannot be reached, or does not allow this page to sign in.`
  }
  return `${host} does not respond as expected: ${error.message}`
}

function withParameters(endpoint: string, parameters: Record<string, string>): URL {
  const url = new URL(endpoint)
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value)
  return url
}

function isName(value: JsonValue | undefined): value is string {
  return typeof value === 'string' && value !== ''
}
