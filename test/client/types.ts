/**
 * Type tests for the client: compiled by `npm run types`, never run. An expected error that does not occur fails
 * them too.
 */
import type {
  ChangeCounts,
  ErrorCode,
  PlantCount,
  PlantStoreClient,
  ReadOptions,
  ServiceError,
  TaggedPlant,
} from '../../client/client.ts'
import { createClient, isPlantStoreError } from '../../client/client.ts'

/** Whether two types are identical, not only assignable. */
type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false

export async function acceptsContractRequests(client: PlantStoreClient): Promise<void> {
  await client.createPlant({ id: 4n, name: 'x', tag: 'y' })
  await client.createPlants([{ id: 4n, name: 'x', tag: 'y' }] as const)
  await client.changePlantsInParts([4n].map((id) => ({ op: 'update', id, tag: 'Tree' })))
  await client.listTags({}, { retries: 0, timeout: 1000 })
  await client.changePlants([
    { op: 'create', id: 4n, name: 'x', tag: 'y' },
    { op: 'replace', id: 5n, name: 'x', ifMatch: '"x"' },
    { op: 'update', id: 6n, tag: null },
    { op: 'update', id: 6n, tag: null, ifContent: { name: 'x', tag: 'y' } },
    { op: 'remove', id: 7n },
  ] as const)
  await client.listPlants({ limit: 1, after: 4n, tag: 'y' })
  await client.listPlants({ q: 'x', id: [4n] })
  await client.listPlants({ untagged: true, count: true })
  await client.countPlants({ tag: 'y', q: 'x' })
  await client.listTags({ limit: 1, after: 'x' })
  await client.updatePlant(4n, { tag: null }, { ifMatch: '"x"' })
  await client.deletePlant(4n, { ifMatch: '"x"', signal: AbortSignal.timeout(1) })
  // @ts-expect-error an id is a bigint
  await client.createPlant({ id: 4, name: 'x' })
  // @ts-expect-error an id is a bigint
  await client.createPlants([{ id: 4, name: 'x' }])
  // @ts-expect-error an id is a bigint
  await client.changePlants([{ op: 'remove', id: 4 }])
  // @ts-expect-error a removal has no name
  await client.changePlants([{ op: 'remove', id: 4n, name: 'x' }])
  // @ts-expect-error a create has no precondition
  await client.changePlants([{ op: 'create', id: 4n, name: 'x', ifMatch: '*' }])
  // @ts-expect-error an expected content has a name
  await client.changePlants([{ op: 'remove', id: 4n, ifContent: { tag: 'x' } }])
  // @ts-expect-error the contract has no such kind of change
  await client.changePlants([{ op: 'eat', id: 4n }])
  // @ts-expect-error a plant has a name
  await client.createPlant({ id: 4n })
  // @ts-expect-error a tag is a string; only a patch accepts null
  await client.replacePlant(4n, { name: 'x', tag: null })
  // @ts-expect-error an id is a bigint
  await client.getPlant(4)
  // @ts-expect-error an id is a bigint
  await client.listPlants({ after: 4 })
  // @ts-expect-error an id is a bigint
  await client.listPlants({ id: [4] })
  // @ts-expect-error the contract has no such parameter
  await client.listPlants({ offset: 4n })
  // @ts-expect-error a count has no position
  await client.countPlants({ after: 4n })
  // @ts-expect-error an iteration has no count
  client.plants({ count: true })
  // @ts-expect-error the iteration calls it pageSize
  client.plants({ limit: 4 })
  // @ts-expect-error a create has no precondition
  await client.createPlant({ id: 4n, name: 'x' }, { ifMatch: '"x"' })
}

export async function returnsContractResponses(
  client: PlantStoreClient,
  options: ReadOptions,
): Promise<true[]> {
  const { plant, etag } = await client.getPlant(4n)
  const { plants, next } = await client.listPlants()
  const { count } = await client.listPlants({ count: true })
  const token = await client.getToken()
  const created = await client.createPlant({ id: 4n, name: 'x' })
  // @ts-expect-error the result of a create has no id
  created.plant.id
  const batch = await client.createPlants([])
  const { changed } = await client.changePlants([])
  const known = await client.getPlant(4n, { ifNoneMatch: etag })
  const optional = await client.getPlant(4n, options)
  for await (const { id } of client.plants()) true satisfies Same<typeof id, bigint>
  return [
    true satisfies Same<typeof plant.id, bigint>,
    true satisfies Same<typeof count, PlantCount | undefined>,
    true satisfies Same<typeof token.scopes, ('read' | 'write')[]>,
    true satisfies Same<typeof batch, Pick<ChangeCounts, 'created' | 'unchanged'>>,
    true satisfies Same<typeof changed, number>,
    true satisfies Same<typeof plant.tag, string | undefined>,
    true satisfies Same<(typeof plants)[0]['id'], bigint>,
    true satisfies Same<Awaited<ReturnType<NonNullable<typeof next>>>['plants'], typeof plants>,
    true satisfies Same<Awaited<ReturnType<typeof client.deletePlant>>, void>,
    true satisfies Same<typeof known, TaggedPlant | undefined>,
    true satisfies Same<typeof optional, TaggedPlant | undefined>,
  ]
}

export function describe(error: unknown): string | undefined {
  if (!isPlantStoreError(error)) return undefined
  true satisfies Same<typeof error.condition, ErrorCode | undefined>
  true satisfies Same<typeof error.status, number | undefined>
  return error.requestId
}

export function isUntouched({ condition }: ServiceError): boolean {
  switch (condition) {
    case 'plant-changed':
    case 'plant-exists':
      return true
    // @ts-expect-error the contract has no such error code
    case 'plant-eaten':
      return true
    default:
      return false
  }
}

createClient({ url: 'http://127.0.0.1:3000', token: process.env.TOKEN })

// @ts-expect-error a token is needed
createClient({ url: 'http://127.0.0.1:3000' })
