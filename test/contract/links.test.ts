/** The links in the contract, followed like a testing tool follows them. */
import t from 'tap'
import { importPlants } from '../../src/transfer/import.ts'
import { contract } from '../helpers/contract-check.ts'
import { type Call, type Service, startService } from '../helpers/service.ts'

interface Link {
  readonly operationId: string
  readonly parameters: Readonly<Record<string, string>>
}

interface LinkedOperation {
  readonly operationId: string
  readonly responses: Readonly<Record<string, { readonly links?: Readonly<Record<string, Link>> }>>
}

type Exchange = Readonly<Record<string, unknown>>

const FIR = { id: 4n, name: 'Abies alba' }

let service: Service
t.before(async () => {
  service = await startService(t)
})

/** A request for each operation that has links. */
const REQUESTS: Readonly<Record<string, Call>> = {
  listPlants: { method: 'GET', path: '/plants' },
  createPlant: { method: 'POST', path: '/plants', body: { id: 5, name: 'Acer' } },
  createPlants: { method: 'POST', path: '/plants/batch', body: [{ id: 6, name: 'Betula' }] },
  getPlant: { method: 'GET', path: '/plants/4' },
  listChanges: { method: 'GET', path: '/changes' },
}

/** A request to follow a link to each operation, with the values of its parameters. */
const FOLLOWING: Readonly<Record<string, (parameters: Record<string, string>) => Call>> = {
  getPlant: ({ id }) => ({ method: 'GET', path: `/plants/${id}` }),
  replacePlant: ({ id, ...headers }) => ({
    method: 'PUT',
    path: `/plants/${id}`,
    headers,
    body: { name: 'replaced' },
  }),
  updatePlant: ({ id, ...headers }) => ({
    method: 'PATCH',
    path: `/plants/${id}`,
    headers,
    body: { name: 'updated' },
  }),
  deletePlant: ({ id, ...headers }) => ({ method: 'DELETE', path: `/plants/${id}`, headers }),
  listChanges: ({ after }) => ({ method: 'GET', path: `/changes?after=${after}` }),
}

/** The value of a runtime expression (https://spec.openapis.org/oas/v3.1.0.html#runtime-expressions). */
function evaluate(expression: string, exchange: Exchange): string {
  const [, source = '', rest = ''] = /^\$(\w+\.\w+)(.*)$/.exec(expression) ?? []
  let value = exchange[source]
  for (const name of rest.split(/[/.]/).slice(1)) value = Object(value)[name]
  return String(value)
}

async function exchange(service: Service, request: Call): Promise<Exchange> {
  const { status, headers, json } = await service.call(request)
  t.equal(status, 200)
  return {
    'request.body': request.body,
    'request.path': { id: request.path?.split('/')[2] },
    'response.body': json,
    'response.header': { ETag: headers.etag },
  }
}

const linked = Object.values(contract.paths)
  .flatMap((item) => Object.values(item) as unknown as LinkedOperation[])
  .map(({ operationId, responses }) => ({
    operationId,
    links: Object.entries(responses['200']?.links ?? {}),
  }))
  .filter(({ links }) => links.length > 0)

t.test('the operations with links are those that are tried here', async (t) => {
  const names = linked.map(({ operationId }) => operationId)
  t.same(names.sort(), Object.keys(REQUESTS).sort())
})

for (const { operationId, links } of linked) {
  for (const [name, link] of links) {
    t.test(`the link ${name} of ${operationId} leads to ${link.operationId}`, async (t) => {
      // Links lead to changes of these plants.
      await importPlants(service.store, [FIR], 'replace')
      for (const id of [5n, 6n]) await service.store.remove(id)
      const first = await exchange(service, REQUESTS[operationId] as Call)
      const parameters = Object.fromEntries(
        Object.entries(link.parameters).map(([key, value]) => [key, evaluate(value, first)]),
      )
      const next = FOLLOWING[link.operationId]?.(parameters)
      t.ok([200, 204].includes((await service.call({ ...next })).status), JSON.stringify(next))
    })
  }
}
