/** Properties that hold for all bodies, which are generated from the contract's schemas. */
import assert from 'node:assert/strict'
import fc from 'fast-check'
import t from 'tap'
import {
  invalidMembers,
  objectText,
  unknownMembers,
  validMembers,
} from '../../helpers/plants/arbitraries.ts'
import { runs } from '../../helpers/plants/runs.ts'
import { createIn, removeFrom } from '../../helpers/plants/single-changes.ts'
import { schemaOf } from '../../helpers/service/contract-check.ts'
import { parseExact, type Service, startService } from '../../helpers/service/service.ts'

const ID = 2n ** 62n
const PATH = `/plants/${ID}`
const stored = { name: 'Abies', tag: 'Tree' }

/** The content in valid JSON, as responses have it. */
function contentOf({ id: _, ...others }: Record<string, string>): object {
  const entries = Object.entries(others).map(([name, json]) => [name, JSON.parse(json)])
  return Object.fromEntries(entries.filter(([, value]) => value !== null))
}

/** The integer that is written as `5`, `5.00`, `5e0` or `50e-1`. */
function integerOf(text: string): bigint {
  const digits = text.endsWith('0e-1') ? text.slice(0, -4) : text.replace(/(\.0+|e0)$/, '')
  return BigInt(parseExact(digits) as bigint | number)
}

let service: Service
t.before(async () => {
  service = await startService(t)
})

const read = async (path = PATH) => (await service.call({ method: 'GET', path })).json

const newPlant = schemaOf('NewPlant')

t.test('every valid create is stored exactly and can be repeated', async () => {
  const members = [validMembers(newPlant), unknownMembers(newPlant)] as const
  await fc.assert(
    fc.asyncProperty(...members, async (members, more) => {
      const id = integerOf(members.id as string)
      await removeFrom(service.store, id)
      const content = contentOf(members)
      for (const body of [objectText({ ...more, ...members }), objectText(members)]) {
        const answer = await service.call({ body })
        assert.equal(answer.status, 200, answer.body)
        assert.deepEqual(answer.json, content)
      }
      assert.deepEqual(await read(`/plants/${id}`), { id, ...content })
      const changed = objectText({ ...members, tag: '"another"' })
      assert.equal((await service.call({ body: changed })).status, 409)
    }),
    { numRuns: runs(50) },
  )
})

/** For each method, its schema, and the members that a body does not need to repeat. */
const METHODS = {
  POST: { schema: newPlant, path: '/plants', kept: {} },
  PUT: { schema: schemaOf('PlantReplacement'), path: PATH, kept: {} },
  PATCH: { schema: schemaOf('PlantPatch'), path: PATH, kept: stored },
}
for (const [method, { schema, path, kept }] of Object.entries(METHODS)) {
  const send = async (members: Record<string, string>) => {
    await removeFrom(service.store, ID)
    await createIn(service.store, { id: ID, ...stored })
    return service.call({ method, path, body: objectText(members) })
  }

  if (method !== 'POST') {
    t.test(`every valid ${method} changes the members it names and nothing else`, async () => {
      await fc.assert(
        fc.asyncProperty(validMembers(schema), unknownMembers(schema), async (members, more) => {
          // Any other id would contradict the path.
          const sameId = 'id' in members && { id: String(ID) }
          const answer = await send({ ...more, ...members, ...sameId })
          assert.equal(answer.status, 200, answer.body)
          const others = Object.entries(kept).filter(([name]) => !Object.hasOwn(members, name))
          const plant = { id: ID, ...Object.fromEntries(others), ...contentOf(members) }
          assert.deepEqual(answer.json, plant)
          assert.deepEqual(await read(), plant)
        }),
        { numRuns: runs(40) },
      )
    })
  }

  t.test(`every invalid ${method} is rejected and changes nothing`, async () => {
    const count = await service.count()
    await fc.assert(
      fc.asyncProperty(invalidMembers(schema), unknownMembers(schema), async (members, more) => {
        const { status, json } = await send({ ...more, ...members })
        assert.equal(status, 400, JSON.stringify(members))
        assert.equal((json as { error: number }).error, 40002)
        assert.deepEqual(await read(), { id: ID, ...stored })
      }),
      { numRuns: runs(method === 'POST' ? 100 : 40) },
    )
    assert.ok((await service.count()) <= count + 1)
  })
}
