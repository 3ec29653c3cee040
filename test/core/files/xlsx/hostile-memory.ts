/** Reads the workbooks that take the most memory, and prints how much it was. */
import { CASES } from './hostile-workbooks.ts'
import { readSheet } from './workbooks.ts'

for (const [what, create] of CASES) {
  if (/cell|text/.test(what)) await readSheet(create())
}
console.log(`${Math.round(process.resourceUsage().maxRSS / 1024)} MB`)
