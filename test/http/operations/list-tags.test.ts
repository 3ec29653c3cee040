/** GET /tags: the tags that plants have, and the `Link` to the next page. */

import t from 'tap'
import { importPlants } from '../../../src/transfer/import.ts'
import { type Service, startService } from '../../helpers/service.ts'

let service: Service
t.before(async () => {
  service = await startService(t)
})

const list = async (query: string) => {
  const answer = await service.call({ method: 'GET', path: `/tags${query}` })
  return { ...answer, tags: answer.json as string[] }
}

const walk = async (start: string): Promise<string[][]> => {
  const pages: string[][] = []
  let query: string | undefined = start
  while (query !== undefined) {
    const { tags, headers }: Awaited<ReturnType<typeof list>> = await list(query)
    pages.push(tags)
    query = /^<(.*)>; rel="next"$/.exec(headers.link ?? '')?.[1]
  }
  return pages
}

t.test('a store without tags has an empty page', async (t) => {
  await service.call({ body: { id: 0n, name: 'Abies' } })
  t.match(await list(''), { status: 200, body: '[]', headers: { link: undefined } })
})

t.test('each tag is listed once, and survives the link', async (t) => {
  const tags = [
    'Tree',
    'tree',
    '',
    ' ',
    'a&b=c+d%20',
    '"<>',
    '\u{1f332}'.repeat(1000),
    '\u00e9',
    '\n',
  ]
  const plants = [...tags, ...tags].map((tag, index) => ({
    id: BigInt(index) + 1n,
    name: 'x',
    tag,
  }))
  await importPlants(service.store, plants, 'stop')
  const all = (await walk('')).flat()
  t.strictSame(all.toSorted(), tags.toSorted())
  for (const limit of [1, 2, 8, 9, 10]) {
    const pages = await walk(`?limit=${limit}`)
    t.strictSame(pages.flat(), all)
    t.equal(pages.length, Math.ceil(tags.length / limit))
  }
})

t.test('tags that are too long for the parameter tag are omitted', async (t) => {
  const before = (await walk('')).flat()
  const long = '\u{1f332}'.repeat(1001)
  await service.store.create({ id: 1000n, name: 'x', tag: long })
  for (const limit of [1, 100]) t.strictSame((await walk(`?limit=${limit}`)).flat(), before)
})
