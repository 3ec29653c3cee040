/** Properties that hold for all requests, with bodies generated from the contract's schemas. */

import assert from 'node:assert/strict'
import fc from 'fast-check'
import t from 'tap'
import { importPlants } from '../../../src/transfer/import.ts'
import {
  anyText,
  invalidMembers,
  objectText,
  unknownMembers,
  validMembers,
} from '../../helpers/arbitraries.ts'
import { schemaOf } from '../../helpers/contract-check.ts'
import { type Service, startService } from '../../helpers/service.ts'

const newPlant = schemaOf('NewPlant')

let service: Service
t.before(async () => {
  service = await startService(t)
})

t.test('every valid create is stored exactly and can be repeated', async () => {
  await fc.assert(
    fc.asyncProperty(validMembers(newPlant), unknownMembers(newPlant), async (members, more) => {
      const id = integerOf(members.id as string)
      const { name, tag } = valuesOf(members)
      fc.pre((await service.stored(id)) === undefined)
      for (const body of [objectText({ ...more, ...members }), objectText(members)]) {
        const answer = await service.call({ body })
        assert.equal(answer.status, 200)
        assert.deepEqual(answer.json, tag === undefined ? { name } : { name, tag })
      }
      assert.deepEqual(await service.stored(id), { id, name, tag: tag ?? null })
    }),
    { numRuns: 60 },
  )
})

t.test('every invalid create is rejected and stores nothing', async (t) => {
  const before = await service.count()
  await fc.assert(
    fc.asyncProperty(invalidMembers(newPlant), unknownMembers(newPlant), async (members, more) => {
      const body = objectText({ ...more, ...members })
      const answer = await service.call({ body })
      assert.equal(answer.status, 400)
      assert.equal((answer.json as { error: number }).error, 40002)
    }),
    { numRuns: 120 },
  )
  t.equal(await service.count(), before)
})

/** A plant with a tag, under an id that no other test uses. */
const changed = { id: 2n ** 62n, name: 'Abies', tag: 'Tree' }
const CHANGED = `/plants/${changed.id}`

/** The schemas of PUT and PATCH, and the members that they do not need to repeat. */
const CHANGES = {
  PUT: { schema: schemaOf('PlantReplacement'), before: {} },
  PATCH: { schema: schemaOf('PlantPatch'), before: changed },
}
for (const [method, { schema, before }] of Object.entries(CHANGES)) {
  const others = unknownMembers(schema)
  const send = async (members: Record<string, string>) => {
    await importPlants(service.store, [changed], 'replace')
    return service.call({ method, path: CHANGED, body: objectText(members) })
  }

  t.test(`every valid ${method} changes the members it names and nothing else`, async () => {
    await fc.assert(
      fc.asyncProperty(validMembers(schema), others, async (members, more) => {
        // Any other id would contradict the path.
        const sameId = 'id' in members && { id: String(changed.id) }
        const answer = await send({ ...more, ...members, ...sameId })
        assert.equal(answer.status, 200)
        const { tag, ...after } = { ...before, ...valuesOf(members), id: changed.id }
        const plant = typeof tag === 'string' ? { ...after, tag } : after
        assert.deepEqual(answer.json, plant)
        assert.deepEqual(await service.stored(changed.id), { tag: null, ...plant })
      }),
      { numRuns: 60 },
    )
  })

  t.test(`every invalid ${method} is rejected and changes nothing`, async () => {
    await fc.assert(
      fc.asyncProperty(invalidMembers(schema), others, async (members, more) => {
        const answer = await send({ ...more, ...members })
        assert.equal(answer.status, 400)
        assert.equal((answer.json as { error: number }).error, 40002)
        assert.deepEqual(await service.stored(changed.id), changed)
      }),
      { numRuns: 60 },
    )
  })
}

t.test('every path, query and entity tag gets a documented response', async () => {
  const urlText = fc.oneof(anyText().map(percentEncoded), fc.webSegment())
  const parameter = fc.tuple(fc.constantFrom('limit', 'after', 'tag', 'If', ''), urlText)
  const queries = fc.array(parameter).map((query) => query.map((pair) => pair.join('=')).join('&'))
  const headers = fc.string({ unit: 'grapheme-ascii' })
  await fc.assert(
    fc.asyncProperty(urlText, queries, headers, async (id, query, known) => {
      const get = { method: 'GET', headers: { 'if-none-match': known } }
      const plant = await service.call({ ...get, path: `/plants/${id}?${query}` })
      assert.ok([200, 304, 400, 404].includes(plant.status))
      for (const path of ['/plants', '/changes']) {
        const page = await service.call({ ...get, path: `${path}?${query}` })
        assert.ok([200, 400].includes(page.status))
      }
    }),
    { numRuns: 60 },
  )
})

t.test('every body gets a documented response', async () => {
  const bytes = fc.oneof(fc.uint8Array({ maxLength: 200 }), fc.json().map(Buffer.from))
  await fc.assert(
    fc.asyncProperty(bytes, async (body) => {
      const { status } = await service.call({ body, headers: { 'content-length': body.length } })
      assert.ok([200, 400].includes(status))
    }),
    { numRuns: 100 },
  )
})

/** Replaces lone surrogates, which cannot be encoded. */
function percentEncoded(text: string): string {
  return encodeURIComponent(text.toWellFormed())
}

/** The integer that is written as `5`, `5.00`, `5e0` or `50e-1`. */
function integerOf(text: string): bigint {
  return BigInt(text.endsWith('0e-1') ? text.slice(0, -4) : text.replace(/(\.0+|e0)$/, ''))
}

function valuesOf(members: Record<string, string>): { name?: string; tag?: string | null } {
  const { id: _id, ...others } = members
  return Object.fromEntries(Object.entries(others).map(([name, json]) => [name, JSON.parse(json)]))
}
