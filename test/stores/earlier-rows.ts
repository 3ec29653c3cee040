import type { Test } from 'tap'
import {
  type Restriction,
  readRestriction,
  restrict,
  restrictedError,
} from '../../service/restriction.ts'
import { keyRanges } from '../../service/store/sort-index.ts'
import { TokenStore } from '../../service/token-store.ts'
import { WebhookStore } from '../../service/webhook-store.ts'
import type { Store } from '../../src/stores/shared/store.ts'
import { createIn } from '../helpers/plants/single-changes.ts'
import { readSetting } from '../helpers/service/settings.ts'
import { complete, declare, NAME, walk } from './suites/reads/sort-suite.ts'

const DIGEST = 'ab'.repeat(32)
const OTHER = 'cd'.repeat(32)

/** Statements that fill the tables of a version without records. */
export function earlierRows(blob: (hex: string) => string): string[] {
  const token = (name: string, digest: string, rest: string) =>
    `INSERT INTO tokens (name, selector, digest, scopes, created_at, expires_at, last_used_at)
     VALUES ('${name}', ${blob(digest.slice(0, 16))}, ${blob(digest)}, ${rest})`
  return [
    token('ci', DIGEST, "'read,write', 1, 8640000000000000, 3"),
    token('"\u{1f332}\\', OTHER, "'', 1, NULL, NULL"),
    `INSERT INTO plant_store_settings (name, value) VALUES ('fields', '{"a":  "\u{1f332}"}')`,
    `INSERT INTO plant_webhooks (name, url, events, secret, created_at)
     VALUES ('new', 'https://a.example', 'newPlant', 'whsec_A', 1)`,
    `INSERT INTO plant_webhooks VALUES ('used', 'https://b.example', 'newPlant,plantRemoved',
       'whsec_B', 'whsec_C', 2, 1, 'cursor', 3, 4, 5, 6, 7, 8, '"x"', 'owner', 9)`,
  ]
}

/** A mirror that is still copying. */
export const EARLIER_MIRROR = {
  source: 'https://it\'s.example/"x"',
  cursor: 'x',
  copyFrom: -(2n ** 63n),
} as const

/** Statements that restrict a database of a version without records, apart from its triggers. */
export const EARLIER_RESTRICTIONS: readonly (readonly [string, Restriction | undefined])[] = [
  ['INSERT INTO plant_restriction (source) VALUES (NULL)', 'frozen'],
  [`INSERT INTO plant_restriction (cursor) VALUES ('ended')`, undefined],
  [
    `INSERT INTO plant_restriction (source, cursor, copy_from)
     VALUES ('https://it''s.example/"x"', 'x', ${-(2n ** 63n)})`,
    EARLIER_MIRROR,
  ],
]

/** Verifies that a store is restricted, and can be released. */
export async function assertRestricted(
  t: Test,
  store: Store,
  expected: Restriction | undefined,
): Promise<void> {
  t.strictSame(await readRestriction(store), expected)
  const change = { id: 1n, name: 'x' }
  if (expected !== undefined) {
    await t.rejects(createIn(store, change), { ...restrictedError(expected) })
    t.equal(await restrict(store, { expected, next: undefined }), 'done')
  }
  t.equal(await createIn(store, change), 'created')
}

/** Verifies that a store has the contents of `earlierRows` as records. */
export async function assertConverted(t: Test, store: Store): Promise<void> {
  const tokens = new TokenStore(store)
  const at = new Date(1)
  const ci = { name: 'ci', scopes: ['read', 'write'], createdAt: at }
  t.strictSame(
    (await tokens.list()).map(({ digest, ...token }) => token),
    [
      { name: '"\u{1f332}\\', scopes: [], createdAt: at },
      { ...ci, expiresAt: new Date(8.64e15), lastUsedAt: new Date(3) },
    ],
  )
  const digest = Buffer.from(DIGEST, 'hex')
  t.match(await tokens.find(digest.subarray(0, 8)), { name: 'ci', digest })
  await tokens.noteUse('ci', new Date(4))
  t.match(await tokens.find(digest.subarray(0, 8)), { lastUsedAt: new Date(4) })
  t.equal(await readSetting(store, 'fields'), '{"a":  "\u{1f332}"}')
  t.match(await new WebhookStore(store).list(), [
    {
      name: 'new',
      url: 'https://a.example',
      events: ['newPlant'],
      secret: 'whsec_A',
      createdAt: at,
      progress: { attempts: 0, cursor: undefined },
      owner: undefined,
    },
    {
      name: 'used',
      events: ['newPlant', 'plantRemoved'],
      previousSecret: 'whsec_C',
      previousUntil: new Date(2),
      progress: {
        cursor: 'cursor',
        attempts: 3,
        failingSince: new Date(4),
        nextAttemptAt: new Date(5),
        pausedAt: new Date(6),
        lastSuccessAt: new Date(7),
        lastFailureAt: new Date(8),
        lastFailure: '"x"',
      },
      owner: undefined,
    },
  ])
}

/** Asserts that the plants 1 and 2, whose names are in the reverse order, can be sorted. */
export async function assertSortable(t: Test, store: Store): Promise<void> {
  await declare(store, NAME, 1)
  await complete(store)
  const ranges = keyRanges(NAME, {}, false)
  t.strictSame(await walk(store, { member: NAME, isDescending: false, ranges, limit: 1 }), [2n, 1n])
}
