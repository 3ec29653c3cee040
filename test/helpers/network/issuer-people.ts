/** People with accounts at the issuer, who sign in to apps in their browsers. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type Provider from 'oidc-provider'
import type { Grant } from 'oidc-provider'

/** The settings of a service with which people sign in to its page, in addition to those of the issuer. */
export const PAGE_CLIENT = { oidcClientId: 'page' }

const SCOPES = ['plants:read', 'plants:write']
const INTERACTION = '/interaction/'

/** An app in a browser, which the issuer knows as a public client. */
export interface BrowserApp {
  /** Where the person returns to after signing in or out. */
  readonly url: string
  /** How long its access tokens are valid. */
  readonly lifetimeSeconds?: number
  /** Whether the issuer gives it refresh tokens. */
  readonly refreshes?: boolean
  /** Whether the issuer ends its own sessions when people sign out. */
  readonly signsOut?: boolean
  /** The claims about a person in ID tokens. */
  readonly claims?: (sub: string) => Record<string, unknown>
}

/** The settings of the provider with which everyone can sign in to an app, and get tokens for a resource. */
export function peopleSettings(
  { url, lifetimeSeconds = 600, refreshes = true, signsOut = true, claims }: BrowserApp,
  resource: string,
) {
  return {
    client: {
      client_id: PAGE_CLIENT.oidcClientId,
      token_endpoint_auth_method: 'none',
      grant_types: ['authorization_code', ...(refreshes ? ['refresh_token'] : [])],
      response_types: ['code'],
      redirect_uris: [url],
      post_logout_redirect_uris: [url],
    },
    features: {
      rpInitiatedLogout: {
        enabled: signsOut,
        logoutSource: askToSignOut,
        postLogoutSuccessSource: confirmSignOut,
      },
    },
    ttl: {
      AccessToken: lifetimeSeconds,
      Grant: 600,
      IdToken: 600,
      Interaction: 600,
      RefreshToken: 600,
      Session: 600,
    },
    configuration: {
      claims: { openid: ['sub'], profile: ['name', 'preferred_username'], email: ['email'] },
      // Like other issuers, which put names into ID tokens.
      conformIdTokenClaims: false,
      clientBasedCORS: () => true,
      cookies: { keys: ['secret'] },
      findAccount: (_context: unknown, sub: string) => ({
        accountId: sub,
        claims: () => ({ sub, ...(claims?.(sub) ?? { name: `${sub}'s name` }) }),
      }),
      interactions: { url: (_context: unknown, { uid }: { uid: string }) => INTERACTION + uid },
      issueRefreshToken: () => refreshes,
      loadExistingGrant: (context: GrantContext) => grantAll(context, resource),
    },
  }
}

interface GrantContext {
  readonly oidc: {
    readonly provider: Provider
    readonly client: { readonly clientId: string }
    readonly session: { readonly accountId: string }
  }
}

/** Consents to everything that the person is permitted to do, which depends on the name. */
async function grantAll(
  { oidc: { provider, client, session } }: GrantContext,
  resource: string,
): Promise<Grant> {
  const { clientId } = client
  const { accountId } = session
  const grant = new provider.Grant({ accountId, clientId })
  grant.addOIDCScope(['openid profile email', ...SCOPES].join(' '))
  for (const scope of SCOPES) {
    const isPermitted = !(
      accountId === 'stranger' ||
      (accountId === 'reader' && /write/.test(scope))
    )
    if (isPermitted) grant.addResourceScope(resource, scope)
    else grant.rejectResourceScope(resource, scope)
  }
  await grant.save()
  return grant
}

/** Shows people a form with their name, and signs them in with it. Returns false for other requests. */
export function interact(
  provider: Provider,
  request: IncomingMessage,
  response: ServerResponse,
): boolean {
  if (!request.url?.startsWith(INTERACTION)) return false
  if (request.method === 'GET') {
    response.setHeader('content-type', 'text/html').end(`<!doctype html><title>Issuer</title>
<form method="post"><label>Name <input name="login"></label>
<button>Continue</button> <button name="cancel" value="yes">Cancel</button></form>`)
  } else {
    finish(provider, request, response)
  }
  return true
}

async function finish(
  provider: Provider,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  let body = ''
  for await (const chunk of request) body += chunk
  const form = new URLSearchParams(body)
  const result = form.has('cancel')
    ? { error: 'access_denied', error_description: 'The person canceled.' }
    : { login: { accountId: form.get('login') } }
  await provider.interactionFinished(request, response, result)
}

function askToSignOut(context: { body: string }, form: string): void {
  context.body = `<!doctype html><title>Issuer</title>
${form}<button form="op.logoutForm" name="logout" value="yes">Sign out</button>`
}

function confirmSignOut(context: { body: string }): void {
  context.body = '<!doctype html><title>Issuer</title>You are signed out.'
}
