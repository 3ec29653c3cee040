import { createWriteStream } from 'node:fs'
import { finished } from 'node:stream/promises'
import { type Owner, run } from '../helpers/command.ts'

/** Characters of a long name: 1,000 of them are 9 MB. */
const LARGE = 9000

export interface Stock {
  readonly plants: number
  /** How many of them, from the first, have long names. */
  readonly large: number
}

/** Creates a database of plants with ids from 1 for attacks to read. */
export async function makeStock(owner: Owner, database: string, stock: Stock): Promise<void> {
  const file = `${database}.ndjson`
  const output = createWriteStream(file)
  for (let id = 1; id <= stock.plants; id++) {
    const name = id <= stock.large ? 'x'.repeat(LARGE) : 'Abies alba Mill.'
    output.write(`{"id":${id},"name":"${name}","tag":"Tree"}\n`)
  }
  output.end()
  await finished(output)
  const { code, stderr } = await run(owner, ['import', file, '--create', '--database', database])
  if (code !== 0) throw new Error(`the import ended with ${code}: ${stderr}`)
}
