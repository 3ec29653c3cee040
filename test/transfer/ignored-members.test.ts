import t from 'tap'
import { IgnoredMembers, NAMES_MAX } from '../../src/transfer/unknown-fields.ts'

t.test('the summary counts each ignored member and suggests the one that was meant', async (t) => {
  const ignored = new IgnoredMembers()
  t.equal(ignored.summary(), '')
  ignored.add(['Tag', 'colour'])
  ignored.add(['Tag'])
  t.equal(
    ignored.summary(),
    'ignored 3 (properties that are not stored: 2 × "Tag" (did you mean "tag"?), 1 × "colour")\n',
  )
})

t.test('only the first names are remembered', async (t) => {
  const ignored = new IgnoredMembers()
  for (let index = 0; index < NAMES_MAX + 5; index++) ignored.add([`x${index}`, 'x0'])
  const summary = ignored.summary()
  t.match(summary, `${NAMES_MAX + 6} × "x0", 1 × "x1"`)
  t.match(summary, `1 × "x${NAMES_MAX - 1}", and others)\n`)
  t.notMatch(summary, `"x${NAMES_MAX}"`)
})
