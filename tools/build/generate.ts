/** Writes the generated files. A test fails if they are out of date. */
import { writeFileSync } from 'node:fs'
import { generatedFiles } from './generated.ts'

for (const [file, text] of await generatedFiles()) writeFileSync(file, text)
