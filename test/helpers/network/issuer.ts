/** A real OpenID provider in the process of the test. */
import { once } from 'node:events'
import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type ServerResponse,
} from 'node:http'
import type { AddressInfo } from 'node:net'
import {
  type CryptoKey,
  exportJWK,
  generateKeyPair,
  type JWK,
  type JWTHeaderParameters,
  type JWTPayload,
  SignJWT,
} from 'jose'
import type Provider from 'oidc-provider'
import type { Owner } from '../processes/command.ts'
import { type BrowserApp, interact, peopleSettings } from './issuer-people.ts'

export const AUDIENCE = 'urn:plants'

const CLIENT = { client_id: 'robot', client_secret: 'secret' }
export const METADATA = '/.well-known/openid-configuration'
export const JWKS = '/jwks'

/** A key pair for signatures, as JSON Web Keys and as a key. */
export interface SigningKey {
  readonly secret: JWK
  readonly open: JWK
  readonly key: CryptoKey
}

let keyCount = 0

export async function newKey(alg = 'ES256'): Promise<SigningKey> {
  const { privateKey: key, publicKey } = await generateKeyPair(alg, { extractable: true })
  const common = { kid: `key-${keyCount++}`, alg, use: 'sig' }
  const [secret, open] = await Promise.all([exportJWK(key), exportJWK(publicKey)])
  return { secret: { ...secret, ...common }, open: { ...open, ...common }, key }
}

export class Issuer {
  readonly url: string
  /** Handles the requests for which it returns true. */
  fault: (request: IncomingMessage, response: ServerResponse) => boolean = () => false
  /** How many requests asked for the keys. */
  reads = 0
  #signingKey: SigningKey | undefined
  #provider: Provider | undefined
  #serve: RequestListener | undefined

  constructor(port: number) {
    this.url = `http://127.0.0.1:${port}`
  }

  /** The key that signs new tokens. */
  get signingKey(): SigningKey {
    return this.#signingKey as SigningKey
  }

  /** The settings with which a service accepts tokens of this issuer. */
  get config() {
    return { oidcIssuer: this.url, oidcAudience: AUDIENCE }
  }

  /** The same as arguments of the command. */
  get args(): string[] {
    return [`--oidc-issuer=${this.url}`, `--oidc-audience=${AUDIENCE}`]
  }

  /** Replaces all keys, so that tokens signed with earlier ones become invalid. */
  async rotate(): Promise<void> {
    this.#signingKey = await newKey()
    await this.#start()
  }

  /** Lets people sign in to an app. What they have signed in to before is kept. */
  async register(app: BrowserApp): Promise<void> {
    await this.#start(app)
  }

  async #start(app?: BrowserApp): Promise<void> {
    this.#provider = await createProvider(this.url, this.signingKey.secret, app)
    this.#serve = this.#provider.callback()
  }

  readonly handle: RequestListener = (request, response) => {
    if (request.url === JWKS) this.reads++
    if (this.fault(request, response) || this.#provider === undefined) return
    if (!interact(this.#provider, request, response)) this.#serve?.(request, response)
  }

  /** An access token from the token endpoint, whose subject is the client. */
  async token(scope = 'plants:read plants:write'): Promise<string> {
    const { client_id, client_secret } = CLIENT
    const response = await fetch(`${this.url}/token`, {
      method: 'POST',
      headers: { authorization: `Basic ${btoa(`${client_id}:${client_secret}`)}` },
      body: new URLSearchParams({ grant_type: 'client_credentials', scope }),
    })
    return ((await response.json()) as { access_token: string }).access_token
  }

  /** Signs a token for a person like those of the token endpoint, except for these claims and header parameters. */
  sign(
    claims: JWTPayload = {},
    header: Partial<JWTHeaderParameters> = {},
    { key, secret } = this.signingKey,
  ): Promise<string> {
    const now = Math.floor(Date.now() / 1000)
    const defaults = {
      iss: this.url,
      aud: AUDIENCE,
      sub: 'ada',
      scope: 'plants:read plants:write',
      iat: now,
      exp: now + 600,
    }
    const { alg = '', kid = '' } = secret
    return (
      new SignJWT({ ...defaults, ...claims })
        .setProtectedHeader({ alg, kid, typ: 'at+jwt', ...header })
        // An extension that the service does not know.
        .sign(key, { crit: { extension: true } })
    )
  }
}

/** Starts an issuer that stops when its owner ends. */
export async function startIssuer(t: Owner): Promise<Issuer> {
  const server = createServer()
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const issuer = new Issuer((server.address() as AddressInfo).port)
  await issuer.rotate()
  server.on('request', issuer.handle)
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  return issuer
}

async function createProvider(url: string, key: JWK, app?: BrowserApp): Promise<Provider> {
  const { warn } = console
  // It warns about its memory, and about versions of Node without long-term support.
  console.warn = () => {}
  try {
    const { default: Provider } = await import('oidc-provider')
    const scope = 'plants:read plants:write'
    const sign = { alg: key.alg }
    const people = app && peopleSettings(app, AUDIENCE)
    return new Provider(url, {
      jwks: { keys: [key] },
      scopes: scope.split(' '),
      clients: [
        { ...CLIENT, grant_types: ['client_credentials'], redirect_uris: [], response_types: [] },
        ...(people === undefined ? [] : [people.client]),
      ],
      ...people?.configuration,
      clientDefaults: { id_token_signed_response_alg: key.alg },
      ttl: { ...people?.ttl, ClientCredentials: 600 },
      features: {
        devInteractions: { enabled: false },
        clientCredentials: { enabled: true },
        ...people?.features,
        resourceIndicators: {
          enabled: true,
          defaultResource: () => AUDIENCE,
          getResourceServerInfo: () => ({
            scope,
            audience: AUDIENCE,
            accessTokenFormat: 'jwt',
            jwt: { sign },
          }),
        },
      },
    })
  } finally {
    console.warn = warn
  }
}
