import { createClient, type PlantStoreClient } from '../../client/client.ts'
import { isRejected } from '../errors/error-text.ts'
import { SignInError } from '../errors/sign-in-error.ts'
import { int64Fields } from '../model/current-members.ts'
import { isResponse, pageUrl } from './page-url.ts'
import type { Person, SignIn } from './sign-in.ts'
import { subjectOf } from './token-text.ts'

/** A person or a token that the service has accepted. */
export interface Session {
  readonly client: PlantStoreClient
  /** For following changes. It has no retries, so that a lost connection is shown at once. */
  readonly feedClient: PlantStoreClient
  /** Undefined with a token of the service. */
  readonly person: Person | undefined
  /** The name of the person or the token. */
  readonly name: string
  /** Identifies the owner of unsaved changes. Tokens with the same name have the same, because names identify tokens. */
  readonly ownerId: string
  /** When the token expires. Undefined if it never does, or is replaced. */
  readonly expiresAt: string | undefined
  readonly canRead: boolean
  readonly canWrite: boolean
  /** Why nobody could change plants when the session began. Undefined if the token decides. */
  readonly readOnlyReason: string | undefined
  /** Aborts once the service rejects the token. */
  readonly rejected: AbortSignal
  /** What to tell the person if the session ends now. Undefined unless something runs that ends with it. */
  interruption: string | undefined
}

/** The keys in the browser's storage. Other apps on this origin can use the same storage. */
const TOKEN = 'plant-store-token'
const SIGNED_IN = 'plant-store-signed-in'

/**
 * Asks the service what a token, or a person who has signed in, is permitted to do.
 *
 * @throws what `PlantStoreClient.getToken` throws
 * @throws SignInError if the service rejects the person
 */
export async function openSession(access: string | Person): Promise<Session> {
  const person = typeof access === 'string' ? undefined : access
  const rejection = new AbortController()
  const freshToken = async (signedIn: Person) => {
    try {
      return await signedIn.accessToken()
    } catch (error) {
      if (isRejected(error)) rejection.abort()
      throw error
    }
  }
  const connection = {
    url: pageUrl(),
    int64Fields,
    token: typeof access === 'string' ? access : () => freshToken(access),
    fetch: async (request: Request) => {
      const response = await fetch(request)
      if (response.status === 401) rejection.abort()
      return response
    },
  }
  const client = createClient(connection)
  try {
    const { name, scopes, expiresAt, readOnlyReason } = await client.getToken()
    return {
      client,
      feedClient: createClient({ ...connection, retries: 0 }),
      person,
      name: person?.name ?? name,
      ownerId: person?.id ?? subjectOf(String(access)) ?? `token ${name}`,
      expiresAt: person === undefined ? expiresAt : undefined,
      canRead: scopes.includes('read'),
      canWrite: scopes.includes('write') && readOnlyReason === undefined,
      readOnlyReason,
      rejected: rejection.signal,
      interruption: undefined,
    }
  } catch (cause) {
    if (person === undefined || !isRejected(cause)) throw cause
    forgetSession()
    const message =
      'You have signed in, but this service does not accept the token that you got. Ask its operator for help.'
    throw new SignInError('failed', message, { cause })
  }
}

/** Whether there may be a session to resume. */
export function canResume(): boolean {
  return storedToken() !== undefined || isResponse() || hasSignedIn()
}

/**
 * Resumes a session: that of a person who returns from the issuer, that of a stored token, or that of a person who was
 * signed in before the page was reloaded. For the last, the tab leaves for the issuer, which usually returns at once.
 *
 * @throws what `openSession` and `SignIn` throw
 */
export async function resumeSession(signIn: SignIn | undefined): Promise<Session | undefined> {
  const person = await signIn?.finish()
  if (person !== undefined) {
    forgetSession()
    // Even if the service is unavailable, so that the person can try again.
    sessionStorage.setItem(SIGNED_IN, 'yes')
    return openSession(person)
  }
  const token = storedToken()
  if (token !== undefined) return openSession(token)
  if (signIn === undefined || !hasSignedIn()) return undefined
  // If it fails, the person is asked, rather than sent to the issuer again and again.
  forgetSession()
  const url = await signIn.begin()
  location.replace(url)
  return new Promise(() => {})
}

function hasSignedIn(): boolean {
  return storages().some((storage) => storage.getItem(SIGNED_IN) !== null)
}

/** The token of an earlier visit: in this tab, or in this browser if the person asked to keep it. */
function storedToken(): string | undefined {
  for (const storage of storages()) {
    const token = storage.getItem(TOKEN)
    if (token !== null) return token
  }
  return undefined
}

/** @param lasting whether to keep the token in the browser rather than in this tab */
export function storeToken(token: string, lasting: boolean): void {
  forgetSession()
  const [tab, browser] = storages()
  const storage = lasting ? browser : tab
  storage?.setItem(TOKEN, token)
}

export function forgetSession(): void {
  for (const storage of storages()) {
    storage.removeItem(TOKEN)
    storage.removeItem(SIGNED_IN)
  }
}

/** The storage of the tab and of the browser. None if the person has blocked them. */
export function storages(): readonly Storage[] {
  try {
    return [sessionStorage, localStorage]
  } catch {
    return []
  }
}
