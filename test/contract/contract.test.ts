import t from 'tap'
import { PlantService } from '../../service/plant-service.ts'
import type { PlantStore } from '../../service/plant-store.ts'
import {
  type ContractDocument,
  loadContract,
  matchOperations,
} from '../../src/contract/contract.ts'

const service = new PlantService({} as PlantStore)

t.test('the contract and the service match', async (t) => {
  const json = { mediaTypes: ['application/json'], bodyRequired: true }
  const patch = {
    mediaTypes: ['application/merge-patch+json', 'application/json'],
    bodyRequired: true,
  }
  const nothing = { mediaTypes: [], bodyRequired: false }
  t.same(
    [...matchOperations(loadContract(), service).values()],
    [
      { id: 'listPlants', scopes: ['read'], ...nothing, success: 200 },
      { id: 'createPlant', scopes: ['write'], ...json, success: 200 },
      { id: 'getPlant', scopes: ['read'], ...nothing, success: 200 },
      { id: 'replacePlant', scopes: ['write'], ...json, success: 200 },
      { id: 'updatePlant', scopes: ['read', 'write'], ...patch, success: 200 },
      { id: 'deletePlant', scopes: ['write'], ...nothing, success: 204 },
    ],
  )
})

const operation = { operationId: 'createPlant', 'x-scope': 'write', responses: { 200: {} } }

class Inheriting extends PlantService {}

const REFUSED: [what: string, change: (document: ContractDocument) => void, message: string][] = [
  [
    'an operation without a handler',
    ({ paths }) => {
      paths['/trees'] = { get: { ...operation, operationId: 'listTrees' } }
    },
    'the operation listTrees has no handler',
  ],
  [
    'an operation whose name every object has',
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
    'two operations of one name',
    ({ paths }) => {
      paths['/trees'] = { post: operation }
    },
    'POST /trees: the operationId createPlant is taken',
  ],
  [
    'an operation without a name',
    ({ paths }) => {
      paths['/plants'] = { post: { responses: {} } }
    },
    'POST /plants has no operationId',
  ],
  ...[[], [{}], [{ other: [] }], [{ bearer: [] }, {}]].map(
    (security): [string, (document: ContractDocument) => void, string] => [
      `an operation behind ${JSON.stringify(security)}`,
      ({ paths }) => {
        paths['/plants'] = { post: { ...operation, security } }
      },
      'POST /plants is not behind the security scheme bearer',
    ],
  ),
  [
    'a contract without security',
    (document) => {
      delete document.security
      document.paths['/plants'] = { post: operation }
    },
    'POST /plants is not behind the security scheme bearer',
  ],
  ...['nonsense', [], ['nonsense'], ['read', 'nonsense'], ['write', 'write']].map(
    (scope): [string, (document: ContractDocument) => void, string] => [
      `an operation with the x-scope ${JSON.stringify(scope)}`,
      ({ paths }) => {
        paths['/plants'] = { post: { ...operation, 'x-scope': scope } }
      },
      'POST /plants must have an x-scope: one of read, write, or a list',
    ],
  ),
  [
    'an operation without a scope',
    ({ paths }) => {
      paths['/plants'] = { post: { operationId: 'createPlant', responses: {} } }
    },
    'POST /plants must have an x-scope: one of read, write, or a list',
  ],
]
for (const [what, change, message] of REFUSED) {
  t.test(`${what} is refused, with the culprit's name`, async (t) => {
    const document = loadContract()
    for (const item of Object.values(document.paths)) item.parameters = [] as never
    change(document)
    t.throws(() => matchOperations(document, service), { message })
  })
}

t.test('a method that a handler class inherits is no handler', async (t) => {
  t.throws(() => matchOperations(loadContract(), new Inheriting({} as PlantStore)), {
    message: 'the operation listPlants has no handler',
  })
})
