import { type AccessToken, createClient, type PlantStoreClient } from '../../client/client.ts'

/** A token that the service has accepted. */
export interface Session {
  readonly client: PlantStoreClient
  /** For following changes. It has no retries, so that a lost connection is shown at once. */
  readonly feedClient: PlantStoreClient
  readonly token: AccessToken
  readonly canRead: boolean
  readonly canWrite: boolean
  /** Aborts once the service rejects the token. */
  readonly rejected: AbortSignal
  /** Whether an import is running, which would end with the session. */
  isImporting: boolean
}

/** The key in the browser's storage. Other apps on this origin can use the same storage. */
const KEY = 'plant-store-token'

/**
 * Asks the service what the token permits.
 *
 * @throws what `PlantStoreClient.getToken` throws
 */
export async function openSession(token: string): Promise<Session> {
  // The page's own folder, because a proxy may have stripped a prefix.
  const url = new URL('.', location.origin + location.pathname)
  const rejection = new AbortController()
  const watchingFetch = async (request: Request) => {
    const response = await fetch(request)
    if (response.status === 401) rejection.abort()
    return response
  }
  const connection = { url, token, fetch: watchingFetch }
  const client = createClient(connection)
  const accessToken = await client.getToken()
  const { scopes } = accessToken
  return {
    client,
    feedClient: createClient({ ...connection, retries: 0 }),
    token: accessToken,
    canRead: scopes.includes('read'),
    canWrite: scopes.includes('write'),
    rejected: rejection.signal,
    isImporting: false,
  }
}

/** The token of an earlier visit: in this tab, or in this browser if the person asked to keep it. */
export function storedToken(): string | undefined {
  for (const storage of storages()) {
    const token = storage.getItem(KEY)
    if (token !== null) return token
  }
  return undefined
}

/** @param lasting whether to keep the token in the browser rather than in this tab */
export function storeToken(token: string, lasting: boolean): void {
  const [tab, browser] = storages()
  const storage = lasting ? browser : tab
  storage?.setItem(KEY, token)
}

export function forgetToken(): void {
  for (const storage of storages()) storage.removeItem(KEY)
}

/** The storage of the tab and of the browser. None if the person has blocked them. */
function storages(): readonly Storage[] {
  try {
    return [sessionStorage, localStorage]
  } catch {
    return []
  }
}
