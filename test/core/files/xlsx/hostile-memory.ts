/** Reads the workbooks that take the most memory, and prints how much it was. */
import { recognizeWorkbook } from '../../../../core/files/xlsx/workbook-file.ts'
import { members } from '../../../../core/members/members.gen.ts'
import { CASES, LONG_ROWS } from './hostile-workbooks.ts'
import { readSheet } from './workbooks.ts'

for (const [what, create] of CASES) {
  if (/cell|text|string/.test(what)) await readSheet(create())
}
async function* none(): AsyncGenerator<Uint8Array> {}

for (const create of LONG_ROWS) {
  const { read } = await recognizeWorkbook(create(), members)
  await Array.fromAsync(read(none()), ({ records }) => records.length)
}
console.log(`${Math.round(process.resourceUsage().maxRSS / 1024)} MB`)
