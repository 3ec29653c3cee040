import { send } from '../load/answers.ts'
import type { Target } from '../load/generators.ts'
import {
  createIdSources,
  FIRST_ID,
  type IdSource,
  makePlant,
  PLANT_JSON,
  type Template,
} from '../load/request-kinds.ts'
import type { Dialect } from '../servers/subjects.ts'

/** The paths of operations. `ID` is replaced by an id. */
interface Interface {
  readonly create: string
  /** The body of a create. By default, it is the plant. */
  readonly body?: string
  readonly read: string
  /** A page of 100 plants: if the interface can do it, those that follow an id. */
  readonly page: string
  /** Whether it accepts a plant without a name. */
  readonly acceptsAny?: boolean
}

export const PLATFORMATIC = dialect({
  create: '/plants/',
  read: '/plants/ID',
  page: '/plants/?where.id.gt=ID&orderby.id=asc&limit=100',
})

export const SOUL = dialect({
  create: '/api/tables/plants/rows',
  body: `{"fields":${PLANT_JSON}}`,
  read: '/api/tables/plants/rows/ID',
  page: '/api/tables/plants/rows?_filters=id__gt:ID&_ordering=id&_limit=100',
})

/** It ignores the ids of creates and assigns random ones. */
export const JSON_SERVER = dialect({
  create: '/plants',
  read: '/plants/ID',
  page: '/plants?_page=50&_per_page=100',
  acceptsAny: true,
})

export const POSTGREST = dialect({
  create: '/plants',
  read: '/plants?id=eq.ID',
  page: '/plants?id=gt.ID&order=id&limit=100',
})

function dialect(own: Interface): Dialect {
  const body = own.body ?? PLANT_JSON
  const create = (ids: IdSource): Template => ({ method: 'POST', path: own.create, body, ids })
  const get = (path: string): Template => ({ method: 'GET', path, body: '', ids: 'stored' })
  const [read, page] = [get(own.read), get(own.page)]
  return {
    requests: {
      sequential: [create('sequential')],
      'random-53-bit': [create('random-53-bit')],
      read: [read],
      page: [page],
    },
    // Some answer a create with 201.
    successes: [200, 201],
    check: (target) => check(target, create('sequential'), read, page, own.acceptsAny ?? false),
  }
}

/** Verifies that a peer stores and returns plants, and whether it refuses one without a name. */
async function check(
  target: Target,
  create: Template,
  read: Template,
  page: Template,
  acceptsAny: boolean,
): Promise<void> {
  // The only stored plant to choose from is the first one.
  const ids = createIdSources({ first: -1, stored: 1 })
  const expect = async (
    template: Template,
    what: string,
    isExpected: (text: string) => boolean,
  ) => {
    const { status, text, described } = await send(target, template, ids)
    if (status >= 300 || !isExpected(text)) throw new Error(`expected ${what}: ${described}`)
  }
  await expect(create, 'a success', () => true)
  const { name } = makePlant(FIRST_ID)
  await expect(read, `"${name}"`, (text) => text.includes(name))
  await expect(page, '100 plants', (text) => text.split('"name":').length === 101)
  const nameless = { ...create, body: create.body.replace(/"name":"[^"]*",/, '') }
  const others = createIdSources({ first: -2, stored: 1 })
  const { status, described } = await send(target, nameless, others)
  if (status < 300 !== acceptsAny) throw new Error(`a plant without a name: ${described}`)
}
