/** Importing and exporting workbooks on the page, in a real browser. */

import { readFile } from 'node:fs/promises'
import t from 'tap'
import { partsOf, relationships, zip } from '../../../core/files/xlsx/workbooks.ts'
import { importPlants } from '../../../helpers/plants/import-plants.ts'
import { startService } from '../../../helpers/service/service.ts'
import { CALM, dialogOf, messageOf, problemsOf, testInBrowser, titled } from '../../plants-page.ts'

/** A row of a sheet. */
function rowOf(...cells: readonly (string | number)[]): string {
  const elements = cells.map((cell) =>
    typeof cell === 'number' ? `<c><v>${cell}</v></c>` : `<c t="str"><v>${cell}</v></c>`,
  )
  return `<row>${elements.join('')}</row>`
}

/** A workbook with a sheet of notes and one of plants. */
async function workbookWithNotes(...rows: readonly string[]): Promise<Buffer> {
  const sheets = ['Notes', 'Plants'].map(
    (name, index) => `<sheet name="${name}" r:id="r${index}"/>`,
  )
  const workbook = zip({
    ...partsOf(rowOf('Checked in spring')),
    'xl/workbook.xml': `<workbook><sheets>${sheets.join('')}</sheets></workbook>`,
    'xl/_rels/workbook.xml.rels': relationships(
      ['worksheet', 'worksheets/sheet1.xml'],
      ['worksheet', 'worksheets/sheet2.xml'],
    ),
    'xl/worksheets/sheet2.xml': `<worksheet><sheetData>${rows.join('')}</sheetData></worksheet>`,
  })
  return Buffer.from(await workbook.arrayBuffer())
}

const mimeType = 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet'

testInBrowser(t, 'workbooks are imported and exported', (open) => {
  t.test('an exported workbook changes nothing, and another sheet can be chosen', async (t) => {
    const service = await startService(t)
    const stored = [
      { id: 1n, name: '=1+1', tag: '' },
      { id: 2n, name: ' 007\n1/2 ', tag: 'Tree' },
      { id: 2n ** 63n - 1n, name: 'Malus × domestica' },
    ]
    await importPlants(service.store, stored, 'stop')
    const plants = await open(t, service.url, { ...CALM, token: service.token })
    const { page } = plants
    const dialog = dialogOf(plants)
    const click = (name: string) => dialog.getByRole('button', { name, exact: true }).click()
    const choose = async (name: string, buffer: Buffer) => {
      const chooser = page.waitForEvent('filechooser')
      await plants.choose('Import…')
      await (await chooser).setFiles({ name, mimeType, buffer })
      await titled(plants, `Import ${name}`)
    }

    await plants.choose('Export…')
    await dialog.getByLabel('Excel workbook').check()
    const [saved] = await Promise.all([page.waitForEvent('download'), click('Export')])
    const exported = await readFile(await saved.path())
    await click('Close')
    await choose('exported.xlsx', exported)
    t.equal(await dialog.getByLabel('Sheet').count(), 0, 'one sheet needs no choice')
    t.equal(await dialog.getByLabel('Name, followed by').count(), 0, 'no column is left to join')
    await click('Preview')
    await dialog.getByText('3 already stored, or repeated in the file').waitFor()
    t.equal(await dialog.locator('form > ul > li').count(), 1)
    await click('Cancel')

    const rows = [
      rowOf('id', 'Genus', 'Species', 'Year', 'Tag'),
      rowOf(4, 'Abies', 'alba', 2024, 'BÃ¤ume'),
      rowOf(5, 'Acer', 'campestre', 2025, 'Tree'),
    ]
    await choose('two sheets.xlsx', await workbookWithNotes(...rows))
    await dialog.getByLabel('Sheet').selectOption('Plants')
    await dialog.getByText('Not imported: Year').waitFor()
    const joined = dialog.getByLabel('Name, followed by')
    t.equal(await joined.count(), 2)
    await joined.last().selectOption('Year')
    await dialog.getByRole('cell', { name: 'Abies alba 2024' }).waitFor()
    t.equal(await joined.count(), 2, 'no column is left')
    t.equal(await dialog.getByText('Not imported').count(), 0)
    await joined.first().selectOption('Nothing')
    await dialog.getByText('Not imported: Species, Year').waitFor()
    await joined.selectOption('Species')
    t.same(await problemsOf(page), [])

    await click('Preview')
    await titled(plants, 'Preview of two sheets.xlsx')
    await dialog.getByText('2 new plants').waitFor()
    t.match(await dialog.locator('.warning').allInnerTexts(), {
      length: 1,
      0: 'Row 2: the tag BÃ¤ume is garbled: Ã¤ was ä until a program read the file',
    })
    t.same(await problemsOf(page), [])
    await click('Import')
    await messageOf(plants).getByText('Imported two sheets.xlsx: 2 plants').waitFor()
    await dialog.waitFor({ state: 'detached' })
    t.match(await service.stored(5n), { name: 'Acer campestre', tag: 'Tree' })
    t.equal(await service.count(), 5)
    t.same(plants.complaints, [])
  })
})
