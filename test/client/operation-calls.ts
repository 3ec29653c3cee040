/** A call of the client for each operation. */
import type { PlantStoreClient } from '../../client/client.ts'
import type { OperationId } from '../../core/contract/operation-types.ts'

/**
 * A call for a plant, its result, and the plant that is stored afterwards. The result must be the same whatever other
 * plants are stored, and if an earlier attempt has already made the change: our-client.test.ts runs all calls at once.
 */
export type OperationCall = readonly [
  call: (client: PlantStoreClient, id: bigint) => Promise<unknown>,
  result: (id: bigint) => unknown,
  stored: object | undefined,
]

/** The content of the plant before the call, unless the call creates it. */
export const before = { name: 'before', tag: 'Tree' }

export const OPERATIONS: Readonly<Record<OperationId, OperationCall>> = {
  createPlant: [
    (client, id) => client.createPlant({ id, name: 'created' }),
    () => ({ plant: { name: 'created' } }),
    { name: 'created', tag: null },
  ],
  createPlants: [
    async (client, id) => {
      const { created, unchanged } = await client.createPlants([{ id, name: 'created' }])
      return created + unchanged
    },
    () => 1,
    { name: 'created', tag: null },
  ],
  changePlants: [
    async (client, id) => {
      const replaced = { op: 'replace', id, name: 'changed' } as const
      const { changed, unchanged } = await client.changePlants([replaced])
      return changed + unchanged
    },
    () => 1,
    { name: 'changed', tag: null },
  ],
  listPlants: [
    (client, id) => client.listPlants({ id: [id] }),
    (id) => ({ plants: [{ id, ...before }] }),
    before,
  ],
  getPlant: [
    async (client, id) => (await client.getPlant(id)).plant,
    (id) => ({ id, ...before }),
    before,
  ],
  replacePlant: [
    async (client, id) => (await client.replacePlant(id, { name: 'replaced' })).plant,
    (id) => ({ id, name: 'replaced' }),
    { name: 'replaced', tag: null },
  ],
  updatePlant: [
    async (client, id) => (await client.updatePlant(id, { name: 'updated' })).plant,
    (id) => ({ id, name: 'updated', tag: 'Tree' }),
    { name: 'updated', tag: 'Tree' },
  ],
  deletePlant: [(client, id) => client.deletePlant(id), () => undefined, undefined],
  listTags: [(client) => client.listTags(), () => ({ tags: ['Tree'] }), before],
  getToken: [async (client) => (await client.getToken()).scopes, () => ['read', 'write'], before],
  listChanges: [
    async (client) => (await client.listChanges({ after: 'latest' })).changes,
    () => [],
    before,
  ],
}
