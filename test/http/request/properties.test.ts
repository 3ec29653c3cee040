/** Properties that hold for all requests, with bodies generated from the contract's schemas. */

import assert from 'node:assert/strict'
import fc from 'fast-check'
import t from 'tap'
import { extendContract, loadContract } from '../../../contract/contract.ts'
import type { OwnField } from '../../../contract/own-fields.ts'
import type { Plant } from '../../../service/plant-store.ts'
import {
  invalidMembers,
  objectText,
  unknownMembers,
  validMembers,
} from '../../helpers/arbitraries.ts'
import { schemaOf } from '../../helpers/contract-check.ts'
import { nursery } from '../../helpers/nursery.ts'
import { runs } from '../../helpers/runs.ts'
import { parseExact, type Service, startService } from '../../helpers/service.ts'

/** A contract, and the plant that tests change, as the store has it and as responses have it. */
interface Case {
  readonly what: string
  readonly fields?: readonly OwnField[]
  readonly stored: Plant
  readonly shown: object
}

const CASES: readonly Case[] = [
  {
    what: '',
    stored: { name: 'Abies', tag: 'Tree' },
    shown: { name: 'Abies', tag: 'Tree' },
  },
  {
    what: ' with own fields',
    fields: nursery,
    stored: { name: 'Abies', fields: '"height":120,"light":"sun","serial":9223372036854775807' },
    shown: { name: 'Abies', height: 120, light: 'sun', serial: 2n ** 63n - 1n },
  },
]

const ID = 2n ** 62n
const PATH = `/plants/${ID}`

/** The content in valid JSON, as responses have it. */
function contentOf(members: Record<string, string>): object {
  const { id: _, ...others } = members
  const entries = Object.entries(others).map(([name, json]) => [name, memberValue(name, json)])
  return Object.fromEntries(entries.filter(([, value]) => value !== null))
}

function memberValue(name: string, json: string): unknown {
  const value: unknown = JSON.parse(json)
  if (typeof value !== 'number') return value
  return name === 'serial' ? integerOf(json) : parseExact(String(value + 0))
}

/** The integer that is written as `5`, `5.00`, `5e0` or `50e-1`. */
function integerOf(text: string): unknown {
  return parseExact(text.endsWith('0e-1') ? text.slice(0, -4) : text.replace(/(\.0+|e0)$/, ''))
}

let service: Service
t.before(async () => {
  service = await startService(t)
})

for (const { what, fields, stored, shown } of CASES) {
  const contract = extendContract(loadContract(), fields ?? [])
  const newPlant = schemaOf('NewPlant', contract)

  let target: Service
  t.before(async () => {
    target = fields ? await startService(t, { fields }) : service
  })

  const read = async (path = PATH) => (await target.call({ method: 'GET', path })).json

  t.test(`every valid create${what} is stored exactly and can be repeated`, async () => {
    const members = [validMembers(newPlant), unknownMembers(newPlant)] as const
    await fc.assert(
      fc.asyncProperty(...members, async (members, more) => {
        const id = BigInt(integerOf(members.id as string) as bigint | number)
        await target.store.remove(id)
        const content = contentOf(members)
        for (const body of [objectText({ ...more, ...members }), objectText(members)]) {
          const answer = await target.call({ body })
          assert.equal(answer.status, 200, answer.body)
          assert.deepEqual(answer.json, content)
        }
        assert.deepEqual(await read(`/plants/${id}`), { id, ...content })
        const changed = objectText({ ...members, tag: '"another"' })
        assert.equal((await target.call({ body: changed })).status, 409)
      }),
      { numRuns: runs(50) },
    )
  })

  t.test(`every invalid create${what} is rejected and stores nothing`, async (t) => {
    const before = await target.count()
    const members = [invalidMembers(newPlant), unknownMembers(newPlant)] as const
    await fc.assert(
      fc.asyncProperty(...members, async (members, more) => {
        const { status, json } = await target.call({ body: objectText({ ...more, ...members }) })
        assert.equal(status, 400)
        assert.equal((json as { error: number }).error, 40002)
      }),
      { numRuns: runs(100) },
    )
    t.equal(await target.count(), before)
  })

  /** The schemas of PUT and PATCH, and the members that they do not need to repeat. */
  const changes = {
    PUT: { schema: schemaOf('PlantReplacement', contract), before: {} },
    PATCH: { schema: schemaOf('PlantPatch', contract), before: shown },
  }
  for (const [method, { schema, before }] of Object.entries(changes)) {
    const send = async (members: Record<string, string>) => {
      await target.store.remove(ID)
      await target.store.create({ id: ID, ...stored })
      return target.call({ method, path: PATH, body: objectText(members) })
    }

    t.test(
      `every valid ${method}${what} changes the members it names and nothing else`,
      async () => {
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
          { numRuns: runs(40) },
        )
      },
    )

    t.test(`every invalid ${method}${what} is rejected and changes nothing`, async () => {
      await fc.assert(
        fc.asyncProperty(invalidMembers(schema), unknownMembers(schema), async (members, more) => {
          const { status, json } = await send({ ...more, ...members })
          assert.equal(status, 400, JSON.stringify(members))
          assert.equal((json as { error: number }).error, 40002)
          assert.deepEqual(await read(), { id: ID, ...shown })
        }),
        { numRuns: runs(40) },
      )
    })
  }
}
