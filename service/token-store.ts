import { type Scope, scopes } from '../core/contract/scopes.ts'
import { changeRecord, type RecordStore, type StoredRecord } from './store/record-store.ts'

/** A token as stored. It has only a digest of the secret, which does not reveal it. */
export interface StoredToken {
  /** Unique. Identifies the token when it is listed or revoked. */
  readonly name: string
  /** SHA-256 of the token. */
  readonly digest: Uint8Array
  readonly scopes: readonly Scope[]
  readonly createdAt: Date
  /** The first moment at which the token is invalid. Undefined if it never expires. */
  readonly expiresAt?: Date
  /** Accurate to a minute. Undefined if the token was never used. */
  readonly lastUsedAt?: Date
}

/** The value of a token's record. Times are in milliseconds since 1970. */
interface TokenValue {
  /** In hexadecimal. */
  readonly digest: string
  readonly scopes: readonly string[]
  readonly createdAt: number
  readonly expiresAt?: number
  readonly lastUsedAt?: number
}

/** How many bytes of a digest select a token: enough to be unique in practice, too few to prove possession. */
export const SELECTOR_BYTES = 8

const DIGEST_BYTES = 32

/**
 * The tokens in a store, as records whose key is the name, and whose alias is the selector. Every method throws
 * StoreUnavailable if the store is temporarily unavailable.
 */
export class TokenStore {
  readonly #records: RecordStore

  constructor(records: RecordStore) {
    this.#records = records
  }

  /**
   * Resolves to the token with the selector, or undefined if there is none.
   *
   * @param selector the first `SELECTOR_BYTES` bytes of the token's digest. The caller must compare the
   *   whole digest.
   */
  async find(selector: Uint8Array): Promise<StoredToken | undefined> {
    const record = await this.#records.findRecord('token', { alias: toHex(selector) })
    return record && toToken(record)
  }

  /** Resolves to all tokens, ordered by name in code point order. */
  async list(): Promise<StoredToken[]> {
    const { records } = await this.#records.listRecords(['token'])
    return records.map(toToken)
  }

  /**
   * Adds a token. Resolves to false, and changes nothing, if its name is taken.
   *
   * @param max how many tokens there may be, with this one. With 1, exactly one of concurrent calls adds its token.
   */
  add(token: StoredToken, max?: number): Promise<boolean> {
    const { name: key, digest } = token
    const alias = toSelector(digest)
    const added = { kind: 'token', key, alias, expected: undefined, next: toValue(token) } as const
    return changeRecord(this.#records, max === undefined ? added : { ...added, max })
  }

  /** Removes a token by name. Resolves to false if there is none. */
  async remove(name: string): Promise<boolean> {
    for (;;) {
      const stored = await this.#records.findRecord('token', { key: name })
      if (stored === undefined) return false
      const removal = { kind: 'token', key: name, expected: stored.value, next: undefined } as const
      // Otherwise, a use of the token was recorded meanwhile, which happens once a minute.
      if (await changeRecord(this.#records, removal)) return true
    }
  }

  /** Records when a token was last used. Does nothing if it was removed, or if another use is recorded at the same time. */
  async noteUse(name: string, at: Date): Promise<void> {
    const stored = await this.#records.findRecord('token', { key: name })
    if (stored === undefined) return
    const next = toValue({ ...toToken(stored), lastUsedAt: at })
    await changeRecord(this.#records, { kind: 'token', key: name, expected: stored.value, next })
  }
}

/** The names of damaged tokens: those whose digest is malformed, or does not begin with the selector that finds them. */
export function findDamagedTokens(records: readonly StoredRecord[]): string[] {
  return records.filter((record) => !isSound(record)).map(({ key }) => key)
}

function isSound({ value, alias }: StoredRecord): boolean {
  try {
    const { digest } = toToken({ key: '', value })
    return digest.length === DIGEST_BYTES && toSelector(digest) === alias
  } catch {
    return false
  }
}

function toToken({ key, value }: Pick<StoredRecord, 'key' | 'value'>): StoredToken {
  const { digest, createdAt, expiresAt, lastUsedAt, ...token } = JSON.parse(value) as TokenValue
  return {
    name: key,
    digest: Buffer.from(digest, 'hex'),
    scopes: scopes.filter((scope) => token.scopes.includes(scope)),
    createdAt: new Date(createdAt),
    ...(expiresAt !== undefined && { expiresAt: new Date(expiresAt) }),
    ...(lastUsedAt !== undefined && { lastUsedAt: new Date(lastUsedAt) }),
  }
}

function toValue({ digest, scopes, createdAt, expiresAt, lastUsedAt }: StoredToken): string {
  return JSON.stringify({
    digest: toHex(digest),
    scopes,
    createdAt: createdAt.getTime(),
    expiresAt: expiresAt?.getTime(),
    lastUsedAt: lastUsedAt?.getTime(),
  } satisfies Record<keyof TokenValue, unknown>)
}

/** The alias of a token's record. */
function toSelector(digest: Uint8Array): string {
  return toHex(digest.subarray(0, SELECTOR_BYTES))
}

function toHex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex')
}
