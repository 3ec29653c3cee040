import { hash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { mkdir, rename, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { NewPlant } from '../service/plant-store.ts'
import { scopes } from '../service/token-store.ts'
import { SqliteStore } from '../src/stores/sqlite/sqlite-store.ts'
import type { Store } from '../src/stores/store.ts'

/** It is in every store that is made here. */
export const TOKEN = 'a-token-for-the-benchmark'

/** Plants of one transaction. */
const BATCH_SIZE = 10_000

/** Of the kept stores: one plant in so many has the rare tag. */
const RARE = 1000
const TAGS = ['Tree', 'Shrub', 'Forb/herb', 'Graminoid', 'Vine']

/** Makes a database with so many plants, given what each of them is. */
export async function makeStore(
  file: string,
  count: number,
  plantAt: (index: number) => NewPlant,
): Promise<void> {
  await fillStore(new SqliteStore({ file, lockTimeout: 5000, sameThread: true }), count, plantAt)
}

/** Gives a new store so many plants and the token, and closes it. */
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
 * A database with so many plants, which is made once and kept in the folder for temporary files, as
 * millions take minutes. Resolves to its path.
 */
export async function keptStore(count: number): Promise<string> {
  const folder = join(tmpdir(), 'plant-store-bench')
  const file = join(folder, `${count}.db`)
  if (existsSync(file)) return file
  console.log(`making a store of ${count.toLocaleString('en')} plants, to be kept in ${folder}`)
  await mkdir(folder, { recursive: true })
  const begun = `${file}.begun`
  for (const ending of ['', '-wal', '-shm']) await rm(begun + ending, { force: true })
  const names = readFileSync(new URL('../data/sample.csv', import.meta.url), 'utf8').split('\n')
  await makeStore(begun, count, (index) => ({
    id: BigInt(keptId(index)),
    name: `${names[index % names.length]} ${index}`,
    tag: index % RARE === 0 ? 'Rare' : (TAGS[index % TAGS.length] as string),
  }))
  await rename(begun, file)
  return file
}

/** The id of a plant of a kept store. There are gaps, so that most have more than four digits in a small store too. */
export function keptId(index: number): number {
  return index * 37
}
