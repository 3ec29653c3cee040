import t from 'tap'
import { withoutCoding } from '../../core/members/plant-version.ts'
import { contentVersion } from '../../service/store/content-version.ts'
import type { Plant } from '../../service/store/plant-store.ts'
import { STRINGS } from '../stores/plants.ts'

const SIMILAR: Plant[] = [
  ...STRINGS.flatMap((text) => [
    { name: text },
    { name: text, tag: '' },
    { name: text, tag: 'x' },
    { name: 'x', tag: text },
  ]),
  ...['', ',', '","', '\\",\\"', '"', '\n', ', '].flatMap((between) => [
    { name: `a${between}b` },
    { name: `a${between}b`, tag: 'c' },
    { name: 'a', tag: `b${between}c` },
    { name: `["a${between}b"]` },
  ]),
  ...['null', 'undefined', '[null]', '{}'].map((tag) => ({ name: 'x', tag })),
]

t.test('the version of a plant is the same in every release', async (t) => {
  // Clients keep them as ETags across upgrades.
  t.equal(
    contentVersion({ name: 'Abies alba Mill.', tag: 'Tree' }),
    'name=Abies%20alba%20Mill.&tag=Tree',
  )
  t.equal(contentVersion({ name: 'Abies alba Mill.' }), 'name=Abies%20alba%20Mill.')
  t.equal(contentVersion({ name: '\u{1f331}', tag: '' }), 'name=%F0%9F%8C%B1&tag=')
  t.equal(contentVersion({ name: 'x'.repeat(65) }), 'v5Nsx9N80psY6tKFWT_bdq')
  t.equal(contentVersion({ name: '\u{1f331}'.repeat(32), tag: 'x' }), 'U45gsCe2k2R9RXnT_nDHzv')
})

t.test('different contents have different versions', async (t) => {
  const contents = new Set(SIMILAR.map(({ name, tag }) => JSON.stringify({ name, tag })))
  t.ok(contents.size > 150)
  t.equal(new Set(SIMILAR.map(contentVersion)).size, contents.size)
})

const SUFFIXES = ['-gzip', '-br', '-zstd', '-deflate']

t.test(
  'what a proxy that compresses appends to a version can be told from the version',
  async (t) => {
    const similar = SUFFIXES.flatMap((suffix) => [
      { name: `x${suffix}` },
      { name: 'x', tag: `x${suffix}` },
      { name: suffix, tag: '' },
      { name: `x${suffix}${suffix}` },
    ])
    for (const plant of [...SIMILAR, ...similar, { name: 'x'.repeat(65) }]) {
      const version = contentVersion(plant)
      t.equal(withoutCoding(version), version)
      for (const suffix of SUFFIXES) t.equal(withoutCoding(version + suffix), version)
    }
    const hash = `${'x'.repeat(19)}-br`
    t.equal(withoutCoding(hash), hash, 'a hash can end like a suffix')
    t.equal(withoutCoding(`${hash}-br`), hash)
    for (const other of ['', '-gzip', 'x-gzip', 'name=x-xz']) t.equal(withoutCoding(other), other)
  },
)

t.test('a version contains at most 64 characters of text, otherwise a hash', async (t) => {
  const name = 'x'.repeat(60)
  t.equal(contentVersion({ name, tag: 'tree' }), `name=${name}&tag=tree`)
  for (const plant of [{ name, tag: 'trees' }, { name: `${name}trees` }]) {
    t.match(contentVersion(plant), /^[\w-]{22}$/)
  }
})

t.test('a version depends on the content alone and needs no quoting', async (t) => {
  for (const plant of SIMILAR) {
    const version = contentVersion(plant)
    t.match(version, /^[!#-~]+$/)
    const { name, tag } = plant
    const stored = { id: 1n, ...(tag !== undefined && { tag }), name }
    t.equal(contentVersion(stored), version)
  }
})
