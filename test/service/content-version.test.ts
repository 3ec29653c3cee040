import t from 'tap'
import { contentVersion, type Plant } from '../../service/plant-store.ts'
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
  t.equal(contentVersion({ name: 'Abies alba Mill.', tag: 'Tree' }), 'TDW738KLDJGf3fixqTb5sA')
  t.equal(contentVersion({ name: 'Abies alba Mill.' }), 'H5N9rdgetaETA6p3g22nft')
  t.equal(contentVersion({ name: '\u{1f331}', tag: '' }), 'Fwcq2F4QRZw7E7Ogq02I_X')
})

t.test('different contents have different versions', async (t) => {
  const contents = new Set(SIMILAR.map(({ name, tag }) => JSON.stringify({ name, tag })))
  t.ok(contents.size > 150)
  t.equal(new Set(SIMILAR.map(contentVersion)).size, contents.size)
})

t.test(
  'a version depends on the content alone and is 22 characters that need no quoting',
  async (t) => {
    for (const plant of SIMILAR) {
      const version = contentVersion(plant)
      t.match(version, /^[\w-]{22}$/)
      const { name, tag } = plant
      const stored = { id: 1n, ...(tag !== undefined && { tag }), name }
      t.equal(contentVersion(stored), version)
    }
  },
)
