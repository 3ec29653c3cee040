import t from 'tap'
import {
  type ContractDocument,
  loadContract,
  matchOperations,
} from '../../../core/contract/contract.ts'
import { PlantCodec } from '../../../service/plant-codec.ts'
import { PlantService } from '../../../service/plant-service.ts'
import { ReadQueues } from '../../../service/read-queue.ts'
import type { Store } from '../../../src/stores/shared/store.ts'

const codec = new PlantCodec([])
const service = new PlantService({} as Store, new ReadQueues(), codec)

t.test('the scopes, media types and status of an operation come from the contract', async (t) => {
  const json = { mediaTypes: ['application/json'], bodyRequired: true }
  const patch = {
    mediaTypes: ['application/merge-patch+json', 'application/json'],
    bodyRequired: true,
  }
  const nothing = { mediaTypes: [], bodyRequired: false }
  const operations = matchOperations(loadContract(), service)
  for (const expected of [
    { id: 'listPlants', scopes: ['read'], ...nothing, success: 200 },
    { id: 'changePlants', scopes: ['write'], ...json, success: 200 },
    { id: 'updatePlant', scopes: ['read', 'write'], ...patch, success: 200 },
    { id: 'deletePlant', scopes: ['write'], ...nothing, success: 204 },
    { id: 'getToken', scopes: [], ...nothing, success: 200 },
    { id: 'listChanges', scopes: ['read'], ...nothing, success: 200, isFollowable: true },
  ]) {
    t.same(operations.get(expected.id), { isFollowable: false, ...expected }, expected.id)
  }
})

const operation = { operationId: 'createPlant', 'x-scope': 'write', responses: { 200: {} } }

class Inheriting extends PlantService {}

type InvalidCase = [what: string, change: (document: ContractDocument) => void, message: string]

const INVALID: InvalidCase[] = [
  [
    'an operation without a handler',
    ({ paths }) => {
      paths['/trees'] = { get: { ...operation, operationId: 'listTrees' } }
    },
    'the operation listTrees has no handler',
  ],
  [
    'an operationId that every object inherits',
    ({ paths }) => {
      paths['/text'] = { get: { ...operation, operationId: 'toString' } }
    },
    'the operation toString has no handler',
  ],
  [
    'a handler without an operation',
    ({ paths }) => {
      delete paths['/plants']?.post
    },
    'the handler createPlant has no operation in the contract',
  ],
  [
    'a duplicate operationId',
    ({ paths }) => {
      paths['/trees'] = { post: operation }
    },
    'POST /trees: duplicate operationId createPlant',
  ],
  [
    'an operation without an operationId',
    ({ paths }) => {
      paths['/plants'] = { post: { responses: {} } }
    },
    'POST /plants: no operationId',
  ],
  ...[[], [{}], [{ other: [] }], [{ bearer: [] }, {}]].map(
    (security): InvalidCase => [
      `an operation with the security ${JSON.stringify(security)}`,
      ({ paths }) => {
        paths['/plants'] = { post: { ...operation, security } }
      },
      'POST /plants: every security requirement must include bearer',
    ],
  ),
  [
    'a contract without security',
    (document) => {
      delete document.security
      document.paths['/plants'] = { post: operation }
    },
    'POST /plants: every security requirement must include bearer',
  ],
  ...[
    undefined,
    'nonsense',
    [],
    ['any'],
    ['nonsense'],
    ['read', 'nonsense'],
    ['write', 'write'],
  ].map(
    (scope): InvalidCase => [
      `an operation with the x-scope ${JSON.stringify(scope)}`,
      ({ paths }) => {
        paths['/plants'] = { post: { ...operation, 'x-scope': scope as string } }
      },
      'POST /plants: x-scope must be any, read, write or a list of scopes',
    ],
  ),
]
for (const [what, change, message] of INVALID) {
  t.test(`${what} is reported by name`, async (t) => {
    const document = structuredClone(loadContract())
    change(document)
    t.throws(() => matchOperations(document, service), { message })
  })
}

t.test('an inherited method is not a handler', async (t) => {
  t.throws(
    () => matchOperations(loadContract(), new Inheriting({} as Store, new ReadQueues(), codec)),
    {
      message: 'the operation listPlants has no handler',
    },
  )
})
