import type { Test } from 'tap'
import {
  LISTED_TAG_MAX,
  type NewPlant,
  type PlantStore,
  TAG_CURSOR_MAX,
  type TagPage,
  type TagsRequest,
} from '../../../../service/store/plant-store.ts'
import { encodeTagCursor } from '../../../../src/stores/shared/cursor.ts'
import { importPlants } from '../../../helpers/plants/import-plants.ts'
import { compareCodePoints } from '../../plant-model.ts'
import { MEGABYTE, STRINGS } from '../../plants.ts'
import { type Engine, opener } from '../../store-suite.ts'

const LONGEST = '\u{1f331}'.repeat(LISTED_TAG_MAX)

/** More than fit into a page, and those that a careless store confuses. */
const LISTED = [
  ...STRINGS,
  ...Array.from({ length: 100 }, (_, index) => `tag ${index}`),
  LONGEST,
  LONGEST.slice(2),
  'x'.repeat(LISTED_TAG_MAX),
  '\u{10ffff}'.repeat(LISTED_TAG_MAX),
]

const OMITTED = [
  MEGABYTE,
  ...['', '\u0001', 'x', '\u{10ffff}'].flatMap((end) =>
    [LONGEST, 'x'.repeat(LISTED_TAG_MAX), '\u{10ffff}'.repeat(LISTED_TAG_MAX)].map(
      (begin) => `${begin}x${end}`,
    ),
  ),
]

/** The requirements of PlantStore.listTags. */
export function tagSuite(t: Test, engine: Engine): void {
  let store: PlantStore
  t.before(async () => {
    const open = await opener(t, engine)
    store = await open()
    const plants: NewPlant[] = [...LISTED, ...OMITTED]
      .flatMap((tag) => [tag, tag, tag])
      .map((tag, index) => ({ id: BigInt(index), name: 'Abies', tag }))
    await importPlants(store, [...plants, { id: -1n, name: 'Acer' }], 'stop')
  })

  for (const limit of [1, 34, 1000]) {
    t.test(`pages of ${limit} contain each tag once, except those that are too long`, async (t) => {
      const pages = await walk(store, limit)
      const tags = pages.flat()
      t.strictSame(tags.toSorted(compareCodePoints), LISTED.toSorted(compareCodePoints))
      t.ok(pages.every((page) => page.length <= limit))
      t.strictSame((await walk(store, 1000)).flat(), tags, 'in the same order')
    })
  }

  t.test('a cursor that the engine has not issued is malformed', async (t) => {
    const { next = '' } = await pageOf(store, { limit: 3 })
    const cursors = [encodeTagCursor('code-points', 'Tree'), encodeTagCursor('md5', 'Tree')]
    for (const after of [...LISTED, 'Tree', '0'.repeat(32), `${next}0`, next.slice(1)]) {
      t.equal(await store.listTags({ after, limit: 3 }), 'malformed', after.slice(0, 40))
    }
    const results = await Promise.all(cursors.map((after) => store.listTags({ after, limit: 3 })))
    t.equal(results.filter((result) => result === 'malformed').length, 1)
  })
}

async function walk(store: PlantStore, limit: number): Promise<(readonly string[])[]> {
  const pages = [await pageOf(store, { limit })]
  for (;;) {
    const after = pages.at(-1)?.next
    if (after === undefined) return pages.map(({ tags }) => tags)
    if (after.length > TAG_CURSOR_MAX) throw new Error('the cursor is too long')
    pages.push(await pageOf(store, { limit, after }))
  }
}

async function pageOf(store: PlantStore, request: TagsRequest): Promise<TagPage> {
  const page = await store.listTags(request)
  if (page === 'malformed') throw new Error(`the cursor ${request.after} is malformed`)
  return page
}
