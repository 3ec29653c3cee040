/** Writes the files that are made from the contract; the tests fail while they are stale. */
import { writeFileSync } from 'node:fs'
import { generatedFiles } from './generated.ts'

for (const [file, text] of await generatedFiles()) writeFileSync(file, text)
