/** What a service serves with a contract that has own fields. */

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { type ContractDocument, resolveReference } from '../../core/contract/contract.ts'
import { propertiesOf } from '../../core/known.ts'
import type { OwnField } from '../../core/members/own-fields.ts'
import { WebhookStore } from '../../service/webhook-store.ts'
import { type PlantStoreOptions, startPlantStore } from '../../src/index.ts'
import { adoptFields } from '../../src/start/field-adoption.ts'
import { openStore } from '../../src/stores/engines.ts'
import { createIn } from '../helpers/plants/single-changes.ts'
import { writeOverlay } from '../helpers/service/overlay.ts'
import { newWebhook } from '../stores/suites/webhook-suite.ts'
import { startReceiver } from '../webhooks/receiver.ts'

const height: OwnField = {
  name: 'height',
  schema: { type: 'integer', format: 'int32', minimum: 0, maximum: 500, examples: [120] },
}
const light: OwnField = { name: 'light', schema: { type: 'string', enum: ['sun', 'shade'] } }

/** The examples of a media type. */
interface Content {
  readonly schema: object
  readonly examples?: Record<string, { readonly value: object } | { readonly $ref: string }>
}

async function serve(t: Test, options: PlantStoreOptions) {
  const store = await startPlantStore(options)
  t.teardown(() => store.close())
  const call = async (method: string, path: string, body?: object, type = 'application/json') => {
    const response = await fetch(new URL(path, store.url), {
      method,
      headers: { authorization: `Bearer ${store.token}`, 'content-type': type },
      ...(body && { body: JSON.stringify(body) }),
    })
    const json: unknown = await response.json()
    return { status: response.status, json }
  }
  return { call }
}

t.test('the served contract has the fields, and the service accepts its examples', async (t) => {
  const { call } = await serve(t, { contract: writeOverlay(t, [height, light]) })
  const { json } = await call('GET', '/documentation/json')
  const document = json as ContractDocument
  t.match(document.components.schemas.Plant?.properties, {
    height: height.schema,
    light: light.schema,
  })
  let accepted = 0
  for (const [path, operations] of Object.entries(document.paths)) {
    for (const [method, { requestBody }] of Object.entries(operations)) {
      for (const [type, content] of Object.entries(requestBody?.content ?? {})) {
        const { examples = {} }: Content = content
        for (const [name, example] of Object.entries(examples)) {
          const { value } = propertiesOf(
            '$ref' in example ? resolveReference(document, example.$ref) : example,
          )
          const at = path.replace(/\{\w+\}/, String(propertiesOf(value).id ?? 1))
          const { status, json } = await call(method.toUpperCase(), at, value as object, type)
          t.not(status, 400, `${method} ${path}: ${name}: ${JSON.stringify(json)}`)
          accepted++
        }
      }
    }
  }
  t.ok(accepted > 3)
})

t.test('webhooks have the fields of the contract, and no hidden ones', async (t) => {
  const database = join(t.testdir(), 'plants.db')
  const receiver = await startReceiver(t, { plain: true })
  const store = await openStore({ database, lockTimeout: 60_000, sameThread: true })
  t.teardown(() => store.close())
  await adoptFields(store, [height, light], { hide: false })
  await new WebhookStore(store).add(
    newWebhook('orders', { url: receiver.url, events: ['newPlant', 'plantChanged'] }),
  )
  await createIn(store, { id: 1n, name: 'Abies', fields: '"height":120,"light":"sun"' })
  const contract = writeOverlay(t, [height])
  const { call } = await serve(t, { database, contract, allowPrivateWebhooks: true })
  await receiver.until(1)
  await call('PUT', '/plants/1', { name: 'Abies', height: 130 })
  const received = await receiver.until(2)
  t.strictSame(
    received.map(({ body }) => body),
    ['{"id":1,"name":"Abies","height":120}', '{"id":1,"name":"Abies","height":130}'],
  )
})

t.test('a contract that cannot be used is refused before there is a database', async (t) => {
  const database = join(t.testdir(), 'plants.db')
  const contract = writeOverlay(t, [{ name: 'tag', schema: { type: 'boolean' } }])
  await t.rejects(startPlantStore({ database, contract }), {
    name: 'Error',
    message: `invalid contract ${contract}: actions/0/update/properties/tag/type: not supported: tag can only have x-sortable`,
  })
  await t.rejects(startPlantStore({ database, contract: '/missing.yaml' }), {
    message: 'cannot read /missing.yaml: no such file or directory',
  })
  await t.rejects(startPlantStore({ database, contract: '/dev/zero' }), {
    message: 'cannot use /dev/zero: expected at most 65536 bytes',
  })
  t.notOk(existsSync(database))
})
