/** Files that a build has made. */
import { pathToFileURL } from 'node:url'
import t from 'tap'
import { readBuilt } from '../../../src/http/responses/built-files.ts'
import type { StaticFile } from '../../../src/http/responses/static-file.ts'

t.test('files that other programs leave among them are not served', async (t) => {
  const folder = t.testdir({ 'index.html': '<p>', '.DS_Store': '', notes: '' })
  const toFile = async (name: string) => ({ name }) as unknown as StaticFile
  const files = await readBuilt('the page is', pathToFileURL(`${folder}/`), toFile)
  t.same([...files.keys()], ['index.html'])
})
