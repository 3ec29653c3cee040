/** Services that build indexes, are killed, and share a database with others. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { inMemory, makeFolder } from '../../tools/tap/temporary-folders.ts'
import { useStore } from '../commands/use-store.ts'
import { Command } from '../helpers/processes/command.ts'
import { runHere } from '../helpers/processes/command-here.ts'
import { until } from '../helpers/processes/until.ts'
import { type Place, postgres, sqlite } from '../helpers/service/engine.ts'

const TOKEN = 'a-token-for-this-test'
/** On each engine. */
const KILLS = 10
const PLANTS = 20_000

interface Row {
  readonly id: number
  readonly name: string
  readonly height?: number
}

/** Writes an overlay with sortable names and heights, of a type that can be changed. */
function overlay(t: Test, height: object = { type: 'integer', format: 'int32' }): string {
  const properties = { name: { 'x-sortable': true }, height: { ...height, 'x-sortable': true } }
  const file = join(makeFolder(t, inMemory()), 'overlay.json')
  const actions = [{ target: '$.components.schemas.Plant', update: { properties } }]
  const info = { title: 'Sortable', version: '1' }
  writeFileSync(file, JSON.stringify({ overlay: '1.0.0', info, actions }))
  return file
}

async function serve(t: Test, database: string, ...args: readonly string[]) {
  const env = { PLANT_STORE_TOKEN: TOKEN }
  const command = new Command(t, ['--port', '0', '--database', database, ...args], { env })
  const url = await command.listening()
  const call = (method: string, path: string, body?: unknown) =>
    fetch(new URL(path, url), {
      method,
      headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
  return { command, call }
}

type Service = Awaited<ReturnType<typeof serve>>

async function list({ call }: Service, query: string): Promise<Row[]> {
  const rows: Row[] = []
  for (let path: string | undefined = `/plants?limit=1000&${query}`; path !== undefined; ) {
    const response: Response = await call('GET', path)
    if (!response.ok) throw new Error(`${response.status}: ${await response.text()}`)
    rows.push(...((await response.json()) as Row[]))
    path = /<([^>]+)>; *rel="?next/.exec(response.headers.get('link') ?? '')?.[1]
    if (path !== undefined) path = new URL(path, response.url).href
  }
  return rows
}

/** Asserts that lists by name and height have all plants in their places. */
async function assertSorted(t: Test, service: Service): Promise<void> {
  const all = await list(service, '')
  const by = (key: (row: Row) => number | string) => (one: Row, other: Row) =>
    key(one) < key(other) ? -1 : key(one) > key(other) ? 1 : one.id - other.id
  for (const [query, key] of [
    ['sort=name', ({ name }: Row) => name],
    ['sort=height', ({ height = Number.POSITIVE_INFINITY }: Row) => height],
  ] as const) {
    const ids = (await list(service, query)).map(({ id }) => id)
    t.strictSame(
      ids,
      all.toSorted(by(key)).map(({ id }) => id),
      query,
    )
  }
}

/** How far indexes are built: an id, or infinite if they are complete. */
type Progress = ReadonlyMap<string, number>

async function progressOf({ query }: Pick<Place, 'query'>): Promise<Progress> {
  const rows = await query<{ key: string; value: string }>(
    "SELECT key, value FROM plant_store_records WHERE kind = 'sort-index'",
  )
  return new Map(
    rows.map(({ key, value }) => {
      const { isComplete, upTo = -1 } = JSON.parse(value)
      return [key, isComplete ? Number.POSITIVE_INFINITY : Number(upTo)]
    }),
  )
}

async function isComplete(place: Pick<Place, 'query'>): Promise<boolean> {
  const progress = [...(await progressOf(place)).values()]
  return progress.length === 2 && progress.every((upTo) => upTo === Number.POSITIVE_INFINITY)
}

async function stop({ command }: Service): Promise<void> {
  command.process.kill('SIGTERM')
  await command.finished()
}

async function check(t: Test, database: string): Promise<void> {
  const { stdout } = await runHere(['check', '--database', database])
  t.match(stdout, /ok {4}index: height: complete\nok {4}index: name: complete\n/)
}

const plant = (id: number): Row => ({
  id,
  name: `plant ${String((id * 7919) % 5000).padStart(4, '0')}`,
  ...(id % 4 > 0 && { height: (id * 31) % 1000 }),
})

for (const [engine, place] of Object.entries({ sqlite, postgres: await postgres() })) {
  t.test(
    `an index is built by services that are killed while plants change (${engine})`,
    async (t) => {
      const owned = await place(t)
      const { database } = owned
      await useStore(database, async (store) => {
        for (let from = 0; from < PLANTS; from += 1000) {
          const changes = Array.from({ length: 1000 }, (_, at) => {
            const { height, ...rest } = plant(from + at)
            const fields = height === undefined ? {} : { fields: `"height":${height}` }
            return { ...rest, id: BigInt(rest.id), ...fields, type: 'create' as const }
          })
          await store.apply(changes, 'each')
        }
      })
      const contract = overlay(t)
      let last: Progress = new Map()
      for (let kills = 0; kills < KILLS; kills++) {
        const service = await serve(t, database, '--contract', contract)
        // Changes are in flight when the service is killed, after the index has grown.
        const changing = Array.from({ length: 20 }, async (_, at) => {
          const id = (kills * 997 + at * 1009) % PLANTS
          const change =
            at % 4 === 0 ? ['DELETE', undefined] : ['PUT', { name: `Changed ${at}`, height: at }]
          await service.call(change[0] as string, `/plants/${id}`, change[1]).catch(() => {})
        })
        const grown = async () =>
          [...(await progressOf(owned))].some(([name, upTo]) => upTo > (last.get(name) ?? -1))
        if (!(await isComplete(owned))) await until('an index grows', grown)
        service.command.process.kill('SIGKILL')
        await service.command.finished()
        await Promise.all(changing)
        const progress = await progressOf(owned)
        for (const [name, upTo] of progress)
          t.ok(upTo >= (last.get(name) ?? -1), `${name} continues`)
        last = progress
      }
      const service = await serve(t, database, '--contract', contract)
      await until('the indexes are complete', () => isComplete(owned))
      await assertSorted(t, service)
      await stop(service)
      await check(t, database)
    },
  )
}

t.test('a process that does not sort serves the same database', async (t) => {
  const owned = await (await postgres())(t)
  const { database } = owned
  const before = await serve(t, database)
  for (let id = 1; id <= 20; id++)
    await before.call('POST', '/plants', { id, name: plant(id).name })
  const sorting = await serve(t, database, '--contract', overlay(t))
  await until('the indexes are complete', () => isComplete(owned))
  for (let id = 1; id <= 60; id++) {
    const { call } = id % 2 === 0 ? before : sorting
    const name = `Changed ${String(id).padStart(2, '0')}`
    await call('PUT', `/plants/${id % 45}`, { name })
    await call('POST', '/plants', { id: id + 100, name })
    await (id % 2 === 0 ? sorting : before).call('DELETE', `/plants/${(id * 7) % 45}`)
    if (id % 20 === 0) await assertSorted(t, sorting)
  }
  await stop(before)
  await assertSorted(t, sorting)
  await stop(sorting)
  await check(t, database)
})

t.test('an index is built again if its member has changed its type', async (t) => {
  const owned = await sqlite(t)
  const { database } = owned
  let service = await serve(t, database, '--contract', overlay(t))
  for (const [id, height] of [10, 9, undefined, 100].entries())
    await service.call('POST', '/plants', { id, name: 'Acer', height })
  const idsOf = async () => (await list(service, 'sort=height')).map(({ id }) => id)
  t.strictSame(await idsOf(), [1, 0, 3, 2])
  await stop(service)

  service = await serve(t, database, '--contract', overlay(t, { type: 'number' }))
  await service.call('POST', '/plants', { id: 4, name: 'Acer', height: 9.5 })
  await until('the index is complete', () => isComplete(owned))
  t.strictSame(await idsOf(), [1, 4, 0, 3, 2])
  await stop(service)
  await check(t, database)
})
