/** Properties that hold for all requests with own fields, with bodies generated from their schemas. */
import assert from 'node:assert/strict'
import fc from 'fast-check'
import t from 'tap'
import { extendContract, loadContract } from '../../../contract/contract.ts'
import {
  invalidMembers,
  objectText,
  unknownMembers,
  validMembers,
} from '../../helpers/arbitraries.ts'
import { schemaOf } from '../../helpers/contract-check.ts'
import { nursery } from '../../helpers/nursery.ts'
import { parseExact, type Service, startService } from '../../helpers/service.ts'

const contract = extendContract(loadContract(), nursery)
const newPlant = schemaOf('NewPlant', contract)

let service: Service
t.before(async () => {
  service = await startService(t, { fields: nursery })
})

/** Of the plant that tests change. */
const ID = 2n ** 62n
const PATH = `/plants/${ID}`
const STORED = { name: 'Abies', fields: '"height":120,"light":"sun","serial":9223372036854775807' }
const SHOWN = { name: 'Abies', height: 120, light: 'sun', serial: 2n ** 63n - 1n }

const read = async () => (await service.call({ method: 'GET', path: PATH })).json

/** The content in valid JSON, as responses have it. */
function contentOf(members: Record<string, string>): object {
  const { id: _, ...others } = members
  const entries = Object.entries(others).map(([name, json]) => [name, memberValue(name, json)])
  return Object.fromEntries(entries.filter(([, value]) => value !== null))
}

function memberValue(name: string, json: string): unknown {
  const value: unknown = JSON.parse(json)
  if (typeof value !== 'number') return value
  if (name !== 'serial') return parseExact(String(value + 0))
  return parseExact(json.endsWith('0e-1') ? json.slice(0, -4) : json.replace(/(\.0+|e0)$/, ''))
}

t.test('every valid create is stored exactly and can be repeated', async () => {
  await fc.assert(
    fc.asyncProperty(validMembers(newPlant), unknownMembers(newPlant), async (members, more) => {
      await service.call({ method: 'DELETE', path: PATH })
      const given = { ...members, id: String(ID) }
      const content = contentOf(given)
      for (const body of [objectText({ ...more, ...given }), objectText(given)]) {
        const answer = await service.call({ body })
        assert.equal(answer.status, 200, answer.body)
        assert.deepEqual(answer.json, content)
      }
      assert.deepEqual(await read(), { id: ID, ...content })
      const changed = objectText({ ...given, height: Object(content).height === 1 ? '2' : '1' })
      assert.equal((await service.call({ body: changed })).status, 409)
    }),
    { numRuns: 60 },
  )
})

t.test('every invalid create is rejected and stores nothing', async (t) => {
  const before = await service.count()
  await fc.assert(
    fc.asyncProperty(invalidMembers(newPlant), unknownMembers(newPlant), async (members, more) => {
      const { status, json } = await service.call({ body: objectText({ ...more, ...members }) })
      assert.equal(status, 400)
      assert.equal((json as { error: number }).error, 40002)
    }),
    { numRuns: 150 },
  )
  t.equal(await service.count(), before)
})

/** The schemas of PUT and PATCH, and the members that they do not need to repeat. */
const CHANGES = {
  PUT: { schema: schemaOf('PlantReplacement', contract), before: {} },
  PATCH: { schema: schemaOf('PlantPatch', contract), before: SHOWN },
}
for (const [method, { schema, before }] of Object.entries(CHANGES)) {
  const send = async (members: Record<string, string>) => {
    await service.store.remove(ID)
    await service.store.create({ id: ID, ...STORED })
    return service.call({ method, path: PATH, body: objectText(members) })
  }

  t.test(`every valid ${method} changes the members it names and nothing else`, async () => {
    await fc.assert(
      fc.asyncProperty(validMembers(schema), unknownMembers(schema), async (members, more) => {
        // Any other id would contradict the path.
        const sameId = 'id' in members && { id: String(ID) }
        const answer = await send({ ...more, ...members, ...sameId })
        assert.equal(answer.status, 200, answer.body)
        const kept = Object.entries(before).filter(([name]) => !Object.hasOwn(members, name))
        const plant = { id: ID, ...Object.fromEntries(kept), ...contentOf(members) }
        assert.deepEqual(answer.json, plant)
        assert.deepEqual(await read(), plant)
      }),
      { numRuns: 60 },
    )
  })

  t.test(`every invalid ${method} is rejected and changes nothing`, async () => {
    await fc.assert(
      fc.asyncProperty(invalidMembers(schema), unknownMembers(schema), async (members, more) => {
        const { status, json } = await send({ ...more, ...members })
        assert.equal(status, 400, JSON.stringify(members))
        assert.equal((json as { error: number }).error, 40002)
        assert.deepEqual(await read(), { id: ID, ...SHOWN })
      }),
      { numRuns: 60 },
    )
  })
}
