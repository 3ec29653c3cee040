import { hash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { mkdir, rename, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { NewPlant } from '../service/plant-store.ts'
import { scopes } from '../src/contract/scopes.ts'
import { COMPANION_SUFFIXES } from '../src/stores/sqlite/file-access.ts'
import { SqliteStore } from '../src/stores/sqlite/sqlite-store.ts'
import type { Store } from '../src/stores/store.ts'

/** The token of every benchmark store. */
export const TOKEN = 'a-token-for-the-benchmark'

/** Plants per transaction. */
const BATCH_SIZE = 10_000

/** In cached stores, one plant in this many has the rare tag. */
const RARE_EVERY = 1000
const TAGS = ['Tree', 'Shrub', 'Forb/herb', 'Graminoid', 'Vine']

/** Creates a database with `count` plants. */
export async function makeStore(
  file: string,
  count: number,
  plantAt: (index: number) => NewPlant,
): Promise<void> {
  await fillStore(new SqliteStore({ file, lockTimeout: 5000, sameThread: true }), count, plantAt)
}

/** Adds `count` plants and the token to a new store, and closes it. */
export async function fillStore(
  store: Store,
  count: number,
  plantAt: (index: number) => NewPlant,
): Promise<void> {
  for (let from = 0; from < count; from += BATCH_SIZE) {
    const length = Math.min(BATCH_SIZE, count - from)
    const plants = Array.from({ length }, (_, offset) => plantAt(from + offset))
    await store.importPlants(plants, 'stop')
  }
  const digest = hash('sha256', TOKEN, 'buffer')
  await store.addToken({ name: 'bench', digest, scopes, createdAt: new Date() })
  await store.close()
}

/**
 * Creates a database with `count` plants in the temporary folder, or reuses an earlier one, because creating millions
 * of plants takes minutes. Resolves to its path.
 */
export async function cachedStore(count: number): Promise<string> {
  const folder = join(tmpdir(), 'plant-store-bench')
  const file = join(folder, `${count}.db`)
  if (existsSync(file)) return file
  console.log(`creating a store of ${count.toLocaleString('en')} plants in ${folder}`)
  await mkdir(folder, { recursive: true })
  const partial = `${file}.partial`
  for (const suffix of ['', ...COMPANION_SUFFIXES]) await rm(partial + suffix, { force: true })
  const names = readFileSync(new URL('../data/sample.csv', import.meta.url), 'utf8').split('\n')
  await makeStore(partial, count, (index) => ({
    id: BigInt(cachedId(index)),
    name: `${names[index % names.length]} ${index}`,
    tag: index % RARE_EVERY === 0 ? 'Rare' : (TAGS[index % TAGS.length] as string),
  }))
  await rename(partial, file)
  return file
}

/** Distance between the ids of a cached store, so that most have more than four digits even in a small store. */
export const CACHED_STEP = 37

/** The id of a plant in a cached store. */
export function cachedId(index: number): number {
  return (index + 1) * CACHED_STEP
}
