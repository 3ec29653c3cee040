/** Loads the compiler of TypeScript, which takes longer than all other tests of the contract. */
import { readFileSync } from 'node:fs'
import t from 'tap'
import { generatedFiles } from '../../../tools/build/generated.ts'

t.test('the generated files are up to date', async (t) => {
  for (const [file, text] of await generatedFiles()) {
    t.equal(readFileSync(file, 'utf8'), text, 'run `npm run generate`')
  }
})
