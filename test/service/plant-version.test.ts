import t from 'tap'
import { type Plant, versionOf } from '../../service/plant-store.ts'
import { STRINGS } from '../stores/plants.ts'

const ALIKE: Plant[] = [
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
  // Clients keep them, as ETags, beyond an upgrade of the service.
  t.equal(versionOf({ name: 'Abies alba Mill.', tag: 'Tree' }), 'TDW738KLDJGf3fixqTb5sA')
  t.equal(versionOf({ name: 'Abies alba Mill.' }), 'H5N9rdgetaETA6p3g22nft')
  t.equal(versionOf({ name: '\u{1f331}', tag: '' }), 'Fwcq2F4QRZw7E7Ogq02I_X')
})

t.test('no two contents have one version, however alike they are', async (t) => {
  const contents = new Set(ALIKE.map(({ name, tag }) => JSON.stringify({ name, tag })))
  t.ok(contents.size > 150)
  t.equal(new Set(ALIKE.map(versionOf)).size, contents.size)
})

t.test('a version names the content alone, in 22 characters that need no quoting', async (t) => {
  for (const plant of ALIKE) {
    const version = versionOf(plant)
    t.match(version, /^[\w-]{22}$/)
    const { name, tag } = plant
    const stored = { id: 1n, ...(tag !== undefined && { tag }), name }
    t.equal(versionOf(stored), version)
  }
})
