/** LibreOffice saves our workbooks, and we read those of LibreOffice. */
import { spawnSync } from 'node:child_process'
import { openAsBlob, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { openWorkbook } from '../../../../core/files/xlsx/workbook-reader.ts'
import { known } from '../../../../core/known.ts'
import { members, plants, rows } from './significant-plants.ts'
import { readFields, writePlants } from './workbooks.ts'

const skip = spawnSync('soffice', ['--version']).status !== 0 && 'LibreOffice is not installed'

/** Separated by commas, in UTF-8, from line 1, in English, with dates and numbers recognized and formulas evaluated. */
const CSV_FILTER = 'CSV:44,34,76,1,,1033,false,true,false,false,false,0,true'

/** Lets LibreOffice open a file and save it as a workbook. */
async function resave(t: Test, name: string, content: string | Buffer): Promise<Blob> {
  const folder = t.testdir()
  const file = join(folder, name)
  writeFileSync(file, content)
  const output = join(folder, 'out')
  const { status, stderr } = spawnSync(
    'soffice',
    [
      `-env:UserInstallation=file://${folder}/profile`,
      '--headless',
      ...(name.endsWith('.csv') ? [`--infilter=${CSV_FILTER}`] : []),
      '--convert-to',
      'xlsx',
      '--outdir',
      output,
      file,
    ],
    { encoding: 'utf8' },
  )
  t.equal(status, 0, stderr)
  return openAsBlob(join(output, name.replace(/\.\w+$/, '.xlsx')))
}

t.test('plants are the same once LibreOffice has saved their workbook', { skip }, async (t) => {
  const workbook = await writePlants(members, plants)
  const saved = await resave(t, 'plants.xlsx', Buffer.from(await workbook.arrayBuffer()))
  t.strictSame(await readFields(saved, members.length), rows)
})

const CSV = `id,value
1,2026-11-25
2,2026-11-25 23:40:00
3,23:40:00
4,-0.25
5,1E+20
6,12%
7,$5.50
8,TRUE
9,"=""a""&""b"""
10,=2^40
11,=TRUE()
12,"=IF(1>2,1,"""")"
13,"=""""&"""""
14,=1/0

16,=NA()
17,=A99+NoSuchName
18,12345678901234567
`

t.test('dates, numbers, results and errors of LibreOffice are read', { skip }, async (t) => {
  const [sheet] = await openWorkbook(await resave(t, 'plants.csv', CSV))
  t.equal(known(sheet).name, 'plants')
  const records = await Array.fromAsync(known(sheet).records())
  t.same(
    records.map(({ number, values, problem }) => [number, problem ?? values[1]]),
    [
      [1, 'value'],
      [2, '2026-11-25'],
      [3, '2026-11-25T23:40:00Z'],
      [4, '23:40:00'],
      [5, '-0.25'],
      [6, '1e+20'],
      [7, '0.12'],
      [8, '5.5'],
      [9, 'true'],
      [10, 'ab'],
      [11, '1099511627776'],
      [12, 'true'],
      [13, undefined],
      [14, undefined],
      [15, 'cell B15 has the error #DIV/0!'],
      [17, 'cell B17 has the error #N/A'],
      [18, 'cell B18 has the error #NAME?'],
      // Rounded, so it is no id.
      [19, '1.23456789012346e+16'],
    ],
  )
})
