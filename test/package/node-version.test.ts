import { readFileSync } from 'node:fs'
import t from 'tap'
import { assertSupportedNode, unsupportedNode } from '#node-version'

const { engines } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'))

t.test('versions from the one in package.json on are supported', async (t) => {
  t.equal(engines.node, '>=22.18', 'update the versions in this file')
  t.equal(unsupportedNode(), undefined)
  for (const version of ['22.18.0', '22.19.1', '24.0.0', '26.10.0']) {
    t.equal(unsupportedNode(version), undefined, version)
    assertSupportedNode(version)
  }
})

t.test('an older version gets one line that names the version it needs', async (t) => {
  for (const version of ['14.21.3', '20.19.0', '22.9.0', '22.17.1']) {
    const message = `plant-store: Node 22.18 or later is required, but this is Node ${version}`
    t.throws(() => assertSupportedNode(version), { message })
  }
})
