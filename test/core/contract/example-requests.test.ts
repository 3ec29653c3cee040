/**
 * The examples of each operation work together, because tools such as Postman send the first one of everything, and so do
 * the links between operations.
 */
import t from 'tap'
import { known, propertiesOf } from '../../../core/known.ts'
import { removeFrom } from '../../helpers/plants/single-changes.ts'
import { contract, dereference } from '../../helpers/service/contract-check.ts'
import { type Call, startService } from '../../helpers/service/service.ts'

interface Schema {
  readonly type?: string | readonly string[]
  readonly examples?: readonly unknown[]
  readonly default?: unknown
  readonly enum?: readonly unknown[]
  readonly items?: Schema
}

interface Parameter {
  readonly name: string
  readonly in: string
  readonly example?: unknown
  readonly schema: Schema
}

interface Content {
  readonly examples: Readonly<Record<string, { readonly value: unknown }>>
}

interface Link {
  readonly operationId: string
  readonly parameters: Readonly<Record<string, string>>
}

interface Operation {
  readonly operationId: string
  readonly parameters?: readonly Parameter[]
  readonly requestBody?: { readonly content: Readonly<Record<string, Content>> }
  readonly responses: Readonly<Record<string, object>>
}

/** In this order, a fresh store has what each operation needs. */
const ORDER = [
  'createPlant',
  'createPlants',
  'changePlants',
  'listPlants',
  'listTags',
  'getPlant',
  'replacePlant',
  'updatePlant',
  'listChanges',
  'getToken',
  'deletePlant',
]

/** Parameters that exclude others, which OpenAPI cannot express. */
const EXCLUSIVE: Readonly<Record<string, readonly string[]>> = { listPlants: ['id', 'untagged'] }

const operations = Object.entries(dereference(contract).paths).flatMap(([path, item]) =>
  Object.entries(item).map(([method, operation]) => {
    const { operationId, ...rest } = operation as unknown as Operation
    return { method: method.toUpperCase(), path, operationId, ...rest }
  }),
)

function exampleOf({ example, schema }: Pick<Parameter, 'example' | 'schema'>): unknown {
  if (schema.items !== undefined) return exampleOf({ schema: schema.items })
  return example ?? schema.examples?.[0] ?? schema.default ?? schema.enum?.[0]
}

/** The request with the given parameters, which have these values or an example's, and the first example of a body. */
function requestWith(
  { method, path, requestBody }: (typeof operations)[number],
  parameters: readonly Parameter[],
  values: Readonly<Record<string, string>> = {},
): Call {
  const valuesIn = (part: string): [name: string, value: string][] =>
    parameters
      .filter((parameter) => parameter.in === part)
      .map((parameter) => [parameter.name, values[parameter.name] ?? String(exampleOf(parameter))])
  const filled = valuesIn('path').reduce(
    (filled, [name, value]) => filled.replace(`{${name}}`, encodeURIComponent(value)),
    path,
  )
  const query = new URLSearchParams(valuesIn('query'))
  const [[type, content] = []] = Object.entries(requestBody?.content ?? {})
  return {
    method,
    path: `${filled}?${query}`.replace(/\?$/, ''),
    headers: { ...Object.fromEntries(valuesIn('header')), ...(type && { 'content-type': type }) },
    body: Object.values(content?.examples ?? {})[0]?.value,
  }
}

const find = (id: string) => known(operations.find(({ operationId }) => operationId === id))

const pathOf = ({ parameters = [] }: (typeof operations)[number]) =>
  parameters.filter((parameter) => parameter.in === 'path')

t.test('the first examples of every operation succeed together', async (t) => {
  const service = await startService(t)
  t.same(operations.map(({ operationId }) => operationId).sort(), ORDER.toSorted())
  for (const id of ORDER) {
    for (const operation of operations) {
      const { operationId, parameters = [], responses } = operation
      if (operationId !== id) continue
      const excluded = EXCLUSIVE[id] ?? []
      const together = parameters.filter(({ name }) => !excluded.includes(name))
      const alone = parameters.filter(({ name }) => excluded.includes(name)).map((each) => [each])
      for (const sent of [together, ...alone]) {
        const request = requestWith(operation, sent)
        const { status, body } = await service.call(request)
        t.equal(
          String(status),
          Object.keys(responses)[0],
          `${id} ${JSON.stringify(request)} ${body}`,
        )
      }
    }
  }
})

t.test('the examples of a plant and of its entity tag belong together', async (t) => {
  const service = await startService(t)
  const get = find('getPlant')
  await service.call(requestWith(find('createPlant'), []))
  const { headers, body } = await service.call(requestWith(get, pathOf(get)))
  const response = get.responses['200'] as {
    readonly headers: { readonly ETag: { readonly schema: Schema } }
    readonly content: Readonly<Record<string, Content>>
  }
  t.equal(headers.etag, exampleOf(response.headers.ETag))
  const [example] = Object.values(response.content['application/json']?.examples ?? {})
  t.equal(body, JSON.stringify(example?.value))
})

/** The value of a runtime expression (https://spec.openapis.org/oas/v3.1.0.html#runtime-expressions). */
function evaluate(expression: string, exchange: Readonly<Record<string, unknown>>): string {
  const [, source = '', rest = ''] = /^\$(\w+\.\w+)(.*)$/.exec(expression) ?? []
  let value = exchange[source]
  for (const name of rest.split(/[/.]/).slice(1)) value = propertiesOf(value)[name]
  return String(value)
}

const links = operations.flatMap((operation) =>
  Object.entries(operation.responses).flatMap(([status, response]) => {
    const { links = {} } = response as { readonly links?: Readonly<Record<string, Link>> }
    return Object.values(links).map((link) => ({ operation, status, link }))
  }),
)

t.test('the links lead to operations that succeed', async (t) => {
  t.ok(links.length > 10)
  const service = await startService(t)
  for (const { operation, status, link } of links) {
    for (const { id } of (await Array.fromAsync(service.store.exportPlants())).flat()) {
      await removeFrom(service.store, id)
    }
    const isCreate = operation.operationId.startsWith('createPlant')
    if (!isCreate) await service.call(requestWith(find('createPlant'), []))
    const request = requestWith(operation, pathOf(operation))
    const answer = await service.call(request)
    t.equal(String(answer.status), status)
    const exchange = {
      'request.body': request.body,
      'request.path': { id: request.path?.split('/')[2] },
      'response.body': answer.json,
      'response.header': { ETag: answer.headers.etag },
    }
    const values = Object.fromEntries(
      Object.entries(link.parameters).map(([name, value]) => [name, evaluate(value, exchange)]),
    )
    const next = find(link.operationId)
    const given = (next.parameters ?? []).filter(({ name }) => name in values)
    t.equal(given.length, Object.keys(values).length)
    const followed = await service.call(requestWith(next, given, values))
    const what = `${operation.operationId} ${link.operationId} ${JSON.stringify(values)}`
    t.ok([200, 204].includes(followed.status), `${what} ${followed.body}`)
  }
})
