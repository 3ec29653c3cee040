import { setTimeout } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { type ChangeCounts, createClient, type NewPlant } from '../../client/client.ts'
import type { FileRecord } from '../../formats/records.ts'
import { plantMapper } from '../../page/transfer/file/columns.ts'
import { FileProblem } from '../../page/transfer/file/file-kind.ts'
import {
  type ImportOptions,
  importRecords,
  type RefusedRecord,
} from '../../page/transfer/import/import-run.ts'
import { importPlants } from '../../src/transfer/import.ts'
import {
  connectThrough,
  type Fault,
  lost,
  lostResponse,
  passed,
  silence,
} from '../client/faulty-proxy.ts'
import { type Service, startService } from '../helpers/service.ts'

let service: Service
t.before(async () => {
  service = await startService(t)
})

const toPlant = plantMapper({ id: 'id', name: 'name', tag: 'tag' }, 'ndjson')

type Values = FileRecord['values'] & Partial<NewPlant>

async function* recordsOf(records: readonly Values[]): AsyncGenerator<FileRecord, void> {
  for (const [index, values] of records.entries()) yield { number: index + 1, values }
}

const ids = (start: number, count: number) =>
  Array.from({ length: count }, (_, index) => BigInt(start + index))

const named = (name: string, ids: readonly bigint[]) => ids.map((id) => ({ id, name }))

const NOTHING = { different: undefined, same: new Set<number>() }

/** Imports records, and checks that the counts add up. */
async function importAll(
  t: Test,
  records: readonly Values[],
  options: Partial<ImportOptions> = {},
) {
  const refusals: RefusedRecord[] = []
  let counts: ChangeCounts = { created: 0, changed: 0, removed: 0, unchanged: 0 }
  await importRecords(recordsOf(records), {
    client: createClient(service),
    canRead: true,
    toPlant,
    onConflict: 'keep',
    seen: NOTHING,
    onChanged: async () => {},
    signal: new AbortController().signal,
    onRefused: (refusal) => refusals.push(refusal),
    onProgress: (progress) => {
      counts = progress
    },
    onFailure: fail,
    ...options,
  })
  const { created, unchanged } = counts
  t.equal(created + unchanged + refusals.length, records.length)
  const described = refusals.map(({ record: { number }, reason, stored }) => [
    number,
    reason,
    stored,
  ])
  return { created, unchanged, refusals: described }
}

const fail = (error: unknown) => Promise.reject(error)

const TAKEN = 'A different plant has this id'

t.test('records are created in batches, and importing them again changes nothing', async (t) => {
  const records = named('Abies', ids(1, 2500))
  const progress: number[] = []
  const options = { onProgress: ({ created }: ChangeCounts) => progress.push(created) }
  await importRecords(recordsOf(records), {
    client: createClient(service),
    canRead: true,
    toPlant,
    onConflict: 'keep',
    seen: NOTHING,
    onChanged: async () => {},
    signal: new AbortController().signal,
    onRefused: t.fail,
    onFailure: fail,
    ...options,
  })
  t.same(progress, [500, 1000, 1500, 2000, 2500, 2500])
  t.equal(await service.count('Abies'), 2500)
  t.same(await importAll(t, records), { created: 0, unchanged: 2500, refusals: [] })
})

t.test('invalid records are refused, and the others are created', async (t) => {
  const result = await importAll(t, [
    { id: 5001n, name: 'Acer' },
    { name: 'Acer' },
    { id: 5002n },
    { id: 5003n, name: 'Acer', tag: '' },
  ])
  t.same(result, {
    created: 2,
    unchanged: 0,
    refusals: [
      [2, 'The id is missing', undefined],
      [3, 'The name is missing', undefined],
    ],
  })
  t.match(await service.stored(5003n), { tag: '' })
})

t.test('stored plants stay as they are, and both contents are reported', async (t) => {
  const taken = [6003n, 6500n, 7999n]
  const stored = taken.map((id) => ({ id, name: 'Alnus', tag: 'stored' }))
  await importPlants(service.store, [...stored, { id: 6001n, name: 'Betula' }], 'stop')
  const result = await importAll(t, named('Betula', ids(6001, 2000)))
  t.same(result, {
    created: 1996,
    unchanged: 1,
    refusals: stored.map((plant) => [Number(plant.id - 6000n), TAKEN, plant]),
  })
  t.match(await service.stored(6500n), { name: 'Alnus' })
})

t.test('the first record with an id wins', async (t) => {
  const first = { id: 9001n, name: 'Carex' }
  const result = await importAll(t, [first, first, { id: 9001n, name: 'Cedrus' }, first])
  t.same(result, {
    created: 1,
    unchanged: 2,
    refusals: [[3, TAKEN, first]],
  })
  const stored = { id: 9002n, name: 'Alnus' }
  await importPlants(service.store, [stored], 'stop')
  const records = [{ id: 9002n, name: 'Cedrus' }, { id: 9002n, name: 'Cercis' }, stored]
  const contradicted = await importAll(t, records)
  t.same(contradicted, {
    created: 0,
    unchanged: 1,
    refusals: [
      [1, TAKEN, stored],
      [2, TAKEN, stored],
    ],
  })
  const far = [...named('Cornus', ids(10_001, 1000)), { id: 10_001n, name: 'Corylus' }]
  const { refusals } = await importAll(t, far)
  t.same(refusals, [[1001, TAKEN, { id: 10_001n, name: 'Cornus' }]])
})

t.test('with a token that cannot read, conflicts are found without their contents', async (t) => {
  const token = await service.issueToken('write', ['write'])
  const taken = [12_000n, 12_400n, 12_401n]
  await importPlants(service.store, named('Alnus', taken), 'stop')
  const client = createClient({ url: service.url, token })
  const records = named('Daphne', ids(12_000, 700))
  const result = await importAll(t, records, { client, canRead: false })
  t.same(result, {
    created: 697,
    unchanged: 0,
    refusals: taken.map((id) => [Number(id) - 11_999, TAKEN, undefined]),
  })
})

t.test('a plant that the service refuses does not stop the others', async (t) => {
  const records = [
    ...named('Erica', ids(14_000, 3)),
    { id: 14_003n, name: 'e'.repeat(2 ** 20) },
    ...named('Erica', ids(14_004, 3)),
  ]
  const { created, refusals } = await importAll(t, records)
  t.equal(created, 6)
  t.match(refusals, [[4, /^The service refuses the plant: .*1048576 bytes/, undefined]])
})

for (const { when, faults, created, refused } of [
  { when: 'before the conflicts are looked up', faults: [], created: 1, refused: [2, 3] },
  { when: 'after that', faults: [passed], created: 0, refused: [1, 3, 2] },
]) {
  t.test(`plants that others create and delete ${when} are noticed`, async (t) => {
    const [removed, added, kept] = [15_001n, 15_002n, 15_003n]
    for (const id of [removed, added, kept]) {
      await service.call({ method: 'DELETE', path: `/plants/${id}` })
    }
    await importPlants(service.store, named('Alnus', [removed, kept]), 'stop')
    const race: Fault = (exchange) => {
      const forward = async () => {
        const answer = await exchange.forward()
        await service.call({ method: 'DELETE', path: `/plants/${removed}` })
        await importPlants(service.store, named('Alnus', [added]), 'stop')
        return answer
      }
      return passed({ ...exchange, forward })
    }
    const { client } = await connectThrough(t, service, [...faults, race])
    const result = await importAll(t, named('Fagus', [removed, added, kept]), { client })
    t.equal(result.created, created)
    t.same(
      result.refusals.map(([number]) => number),
      refused,
    )
  })
}

t.test('an import continues after a failure, and nothing is lost', async (t) => {
  const records = named('Ginkgo', ids(16_001, 1500))
  await importPlants(service.store, named('Alnus', [16_001n]), 'stop')
  const { client, proxy } = await connectThrough(t, service, [lost], { retries: 0 })
  const failures: string[] = []
  const onFailure: ImportOptions['onFailure'] = async (error) => {
    failures.push((error as Error).name)
    // Next, a lost request for the stored plants, and a lost response.
    if (failures.length === 1) proxy.faults = [passed, lost]
    if (failures.length === 2) proxy.faults = [passed, passed, lostResponse]
  }
  const { created, unchanged, refusals } = await importAll(t, records, { client, onFailure })
  t.same(failures, ['ConnectionError', 'ConnectionError', 'ConnectionError'])
  t.equal(created + unchanged, 1499)
  t.equal(refusals.length, 1)
  t.equal(await service.count('Ginkgo'), 1499)
})

t.test('a revoked token interrupts an import', async (t) => {
  const client = createClient({ url: service.url, token: 'revoked' })
  const stop = new Error('stopped by the person')
  const onFailure: ImportOptions['onFailure'] = async (error) => {
    t.match(error, { condition: 'token-invalid' })
    throw stop
  }
  await t.rejects(importAll(t, named('Hedera', [17_001n]), { client, onFailure }), stop)
})

t.test('a canceled import keeps what is stored', async (t) => {
  const controller = new AbortController()
  const { signal } = controller
  const reason = new Error('canceled')
  const progress: ChangeCounts[] = []
  const options = {
    signal,
    onProgress: (counts: ChangeCounts) => {
      progress.push(counts)
      controller.abort(reason)
    },
  }
  await t.rejects(importAll(t, named('Ilex', ids(18_001, 2500)), options), reason)
  t.match(progress, [{ created: 500 }])
  t.equal(await service.count('Ilex'), 500)
})

t.test('canceling ends a request that hangs', async (t) => {
  for (const faults of [[silence], [passed, silence]]) {
    const controller = new AbortController()
    const { signal } = controller
    await importPlants(service.store, named('Alnus', [19_001n]), 'keep')
    const { client, proxy } = await connectThrough(t, service, faults)
    const reason = new Error('canceled')
    const run = importAll(t, named('Juglans', [19_001n]), { client, signal })
    while (proxy.requests.length < faults.length) await setTimeout(1)
    controller.abort(reason)
    await t.rejects(run, reason)
  }
})

t.test('records before the one at which a file is malformed are imported', async (t) => {
  const problem = new FileProblem('Line 3 has a quote.')
  async function* malformed() {
    yield* recordsOf(named('Larix', [20_001n, 20_002n]))
    throw problem
  }
  let created = 0
  const run = importRecords(malformed(), {
    client: createClient(service),
    canRead: true,
    toPlant,
    onConflict: 'keep',
    seen: NOTHING,
    onChanged: async () => {},
    signal: new AbortController().signal,
    onRefused: t.fail,
    onProgress: (counts) => {
      created = counts.created
    },
    onFailure: fail,
  })
  await t.rejects(run, problem)
  t.equal(created, 2)
})

t.test('large plants are sent in small batches', async (t) => {
  const { client, proxy } = await connectThrough(t, service)
  const records = ids(21_001, 5).map((id) => ({ id, name: 'Malus', tag: 'm'.repeat(2 ** 19) }))
  const { created } = await importAll(t, records, { client })
  t.equal(created, 5)
  t.equal(proxy.requests.length, 5)
})
