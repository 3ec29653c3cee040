/** Importing and exporting plants on the page, in a real browser. */

import { readFile } from 'node:fs/promises'
import type { AxeResults } from 'axe-core'
import type { Locator, Page } from 'playwright-core'
import t, { type Test } from 'tap'
import type { StoredPlant } from '../../../../client/client.ts'
import { recordFormats } from '../../../../core/files/record-formats.ts'
import { openWorkbook } from '../../../../core/files/xlsx/workbook-reader.ts'
import { known } from '../../../../core/known.ts'
import { importPlants } from '../../../helpers/plants/import-plants.ts'
import { type Service, startService } from '../../../helpers/service/service.ts'
import { tabTo } from '../../keyboard.ts'
import { findIllegible } from '../../legibility.ts'
import {
  CALM,
  dialogOf,
  messageOf,
  type Person,
  type PlantsPage,
  SMALL_PHONE,
  testInBrowser,
  titled,
} from '../../plants-page.ts'

const DESK = { viewport: { width: 1280, height: 900 } }

interface DroppedFile {
  readonly name: string
  readonly content: string
}

interface SavedFile extends DroppedFile {
  readonly bytes: Buffer<ArrayBuffer>
}

/** The dialogs of import and export. */
class TransferPage {
  readonly #plants: PlantsPage
  readonly page: Page
  readonly dialog: Locator

  constructor(plants: PlantsPage) {
    this.#plants = plants
    this.page = plants.page
    this.dialog = dialogOf(plants)
  }

  get complaints(): readonly string[] {
    return this.#plants.complaints
  }

  /** Drops files on the page, or on the dialog if there is one. */
  async drop(...files: readonly DroppedFile[]): Promise<void> {
    for (const type of ['dragenter', 'dragover', 'drop']) {
      await this.page.evaluate(`{
        const dataTransfer = new DataTransfer()
        for (const { name, content } of ${JSON.stringify(files)}) {
          dataTransfer.items.add(new File([content], name))
        }
        const target = document.querySelector('dialog') ?? document.body
        const event = { dataTransfer, bubbles: true, cancelable: true }
        target.dispatchEvent(new DragEvent(${JSON.stringify(type)}, event))
      }`)
    }
  }

  /** Resolves once the dialog has a title. */
  titled(name: string): Promise<void> {
    return titled(this.#plants, name)
  }

  /** Chooses an item of the menu. */
  choose(item: string): Promise<void> {
    return this.#plants.choose(item)
  }

  /** Resolves once the message about the latest change contains a string, and no dialog covers it. */
  async says(text: string): Promise<void> {
    await messageOf(this.#plants).getByText(text).waitFor()
    await this.dialog.waitFor({ state: 'detached' })
  }

  async click(name: string): Promise<void> {
    await this.dialog.getByRole('button', { name, exact: true }).click()
  }

  /** Compares the file, and imports it. */
  async import(): Promise<void> {
    await this.click('Preview')
    await this.page.getByRole('dialog', { name: /^Preview of / }).waitFor()
    await this.click('Import')
  }

  /** Clicks a button that saves a file. */
  async save(name: string): Promise<SavedFile> {
    const [download] = await Promise.all([this.page.waitForEvent('download'), this.click(name)])
    const bytes = await readFile(await download.path())
    return { name: download.suggestedFilename(), content: bytes.toString(), bytes }
  }

  /** The numbers of plants created, unchanged and refused. */
  async counts(): Promise<readonly string[]> {
    return this.dialog.locator('dd').allInnerTexts()
  }

  /** Problems with accessibility, on this screen and in both color schemes. */
  async problems(): Promise<readonly string[]> {
    const found: string[] = []
    for (const colorScheme of ['light', 'dark'] as const) {
      await this.page.emulateMedia({ colorScheme })
      found.push(...(await findIllegible(this.page, 'dialog')))
    }
    const { violations } = await this.page.evaluate<AxeResults>('axe.run("dialog")')
    return [...found, ...violations.map(({ help, nodes }) => `${help}: ${nodes[0]?.html}`)]
  }
}

/** How much wider than the element its content is. */
function overflowOf(locator: Locator): Promise<number> {
  return locator.evaluate(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)
}

testInBrowser(t, 'plants are imported and exported on the page', (openPage) => {
  async function open(
    t: Test,
    { url, token }: Pick<Service, 'url' | 'token'>,
    person: Person = DESK,
  ): Promise<TransferPage> {
    return new TransferPage(await openPage(t, url, { ...CALM, ...person, token }))
  }

  const named = (count: number): StoredPlant[] =>
    Array.from({ length: count }, (_, index) => ({ id: BigInt(index + 1), name: `Acer ${index}` }))

  t.test('a spreadsheet is mapped, previewed, imported and taken back on a phone', async (t) => {
    const service = await startService(t)
    const stored = [
      { id: 5n, name: 'Stored before', tag: '' },
      { id: 9n, name: 'Alnus' },
    ]
    await importPlants(service.store, stored, 'stop')
    const content = [
      'Plants; in 3" pots',
      '',
      'Number;Plante;Remarks;Group',
      ` 4 ;Abies "Nana";;${'x'.repeat(300)}`,
      '5;Acer;"a ""remark""";',
      ';Alnus;;Tree',
      '9223372036854775807;<img src=x onerror=alert(1)>;;\u202egnirts',
      '9;Cornus;;',
      '6;Carex;',
      '',
    ]
    const page = await open(t, service, SMALL_PHONE)
    const legible = async () => {
      t.same(await page.problems(), [])
      t.equal(await overflowOf(page.dialog), 0)
    }
    const file = { name: 'My plants.txt', content: content.join('\r\n') }
    await page.drop(file, file)
    await page.dialog.getByText('Choose one file at a time.').waitFor()
    await legible()
    await page.drop(file)
    await page.titled('Import My plants.txt')
    const header = page.dialog.getByLabel('Header row')
    await header.selectOption('None: every line is a plant')
    await page.dialog
      .getByRole('option', { name: 'Column 1' })
      .first()
      .waitFor({ state: 'attached' })
    await header.selectOption('Line 3: Number · Plante · Remarks · Group')
    await page.dialog.getByText('Not imported: Plante, Remarks').waitFor()
    const column = (member: string) =>
      page.dialog.getByRole('combobox', { name: member, exact: true })
    await column('Id').selectOption('No ids: number them')
    await page.dialog.getByLabel('Number them, beginning with').fill('x')
    await column('Name').selectOption('Plante')
    await page.click('Preview')
    t.equal(await page.dialog.locator('input:invalid').count(), 1)
    await legible()
    await column('Id').selectOption('Number')
    await column('Tag').selectOption('No tags')
    await page.dialog.getByText('Not imported: Remarks, Group').waitFor()
    await column('Tag').selectOption('Group')
    await page.dialog.locator('tr.problem').getByText('The id is missing').waitFor()
    await legible()

    await page.click('Preview')
    await page.titled('Preview of My plants.txt')
    await page.dialog.getByText('2 plants are stored with other content, and will stay').waitFor()
    await page.dialog.getByLabel('Stop the import').check()
    await page.dialog.getByText('Only the rows before line 5 are imported.').waitFor()
    await page.dialog.getByLabel('Replace the stored plant').check()
    const preview = await page.dialog.locator('form > ul > li').allInnerTexts()
    t.match(
      preview.map((text) => text.split(/\n+/)),
      [
        ['2 new plants', 'The first one: Line 4', /^In the file: ·4· Abies "Nana" x{299}/],
        [
          '2 plants will change, and 1 value will be removed',
          '\tStored\tIn the file',
          'Line 5: 5 Stored before',
          'Name\tStored before\tAcer',
          'Tag\tEmpty tag\tNo tag',
          'Line 8: 9 Alnus',
          'Name\tAlnus\tCornus',
          'Download',
        ],
        [
          '2 rows will be refused',
          'Line 6: The id is missing',
          'In the file: No id Alnus Tree',
          'Line 9: The row has 3 fields, but the first row has 4',
          'In the file: 6 Carex No tag',
          'Download',
        ],
      ],
    )
    await legible()
    t.equal(await service.count(), 2, 'nothing is stored before')
    await service.call({ method: 'PUT', path: '/plants/9', body: { name: 'Changed by others' } })
    await page.click('Import')
    await page.titled('Import finished')
    t.same(await page.counts(), ['2', '1', '0', '3'])
    const refused = await page.dialog.getByRole('listitem').allInnerTexts()
    t.match(refused, [
      /^Line 6: The id is missing/,
      /^Line 8: Somebody has changed this plant meanwhile/,
      /^Line 9: The row has 3 fields/,
    ])
    await legible()
    const { name, content: csv } = await page.save('Download')
    t.equal(name, 'My plants-refused.csv')
    t.match(csv, '\n8,Somebody has changed this plant meanwhile,9,Cornus,,Changed by others,\n')
    t.match(await service.stored(2n ** 63n - 1n), {
      name: '<img src=x onerror=alert(1)>',
      tag: '\u202egnirts',
    })
    t.match(await service.stored(5n), { name: 'Acer', tag: null })
    await page.click('Undo import')
    await page.says('Undone: Imported My plants.txt: 3 plants')
    t.match(await service.stored(5n), { name: 'Stored before', tag: '' })
    t.equal(await service.count(), 2)
    t.same(page.complaints, [])
  })

  t.test('exports suit the filter, and can be imported again', async (t) => {
    const service = await startService(t)
    const trees = [7n, 2n ** 63n - 1n].map((id) => ({ id, name: '=Abies × 1', tag: 'Tree' }))
    await importPlants(service.store, [...named(5), ...trees], 'stop')
    const page = await open(t, service, SMALL_PHONE)
    const begin = async () => {
      await page.choose('Export…')
      await page.titled('Export plants')
    }
    await page.page.getByLabel('Search names').fill('abies')
    await page.page.getByText('Acer').first().waitFor({ state: 'detached' })
    await begin()
    t.match(await page.dialog.innerText(), 'All plants whose name contains “abies”.')
    t.ok(await page.dialog.getByLabel('Excel workbook').isChecked())
    t.same(await page.problems(), [])
    t.equal(await overflowOf(page.dialog), 0)
    const { name, bytes } = await page.save('Export')
    t.match(name, /^plants-name-abies-[\d-]+\.xlsx$/)
    const [sheet] = await openWorkbook(new Blob([bytes]))
    t.same(await Array.fromAsync(known(sheet).records(), ({ values }) => Object.values(values)), [
      ['id', 'name', 'tag'],
      ...trees.map(({ id, name, tag }) => [String(id), name, tag]),
    ])
    t.match(await page.dialog.innerText(), `2 plants saved as ${name}.`)
    t.same(await page.problems(), [])
    await page.click('Close')
    await page.drop({ name: 'plants.csv', content: 'id,name,tag\n7,"\'=Abies","Tree"\n' })
    await page.dialog.getByText('This looks like an export for a spreadsheet').waitFor()
    t.same(await page.problems(), [])
    await page.click('Cancel')

    await begin()
    await page.dialog.getByLabel(/^NDJSON/).check()
    const file = await page.save('Export')
    t.match(await page.dialog.innerText(), `2 plants saved as ${file.name}.`)
    t.equal(file.content, trees.map(recordFormats.ndjson.line).join(''))
    await page.click('Close')
    await page.drop({ name: 'renamed.txt', content: file.content })
    await page.import()
    await page.says('Imported renamed.txt: 0 plants, 2 unchanged')
    t.same(page.complaints, [])
  })

  t.test('import and export work with the keyboard alone', async (t) => {
    const service = await startService(t)
    const page = await open(t, service)
    const { keyboard } = page.page
    const path = `${t.testdir({ 'plants.csv': 'Plant no.,Name\n4,Abies' })}/plants.csv`
    const chooser = page.page.waitForEvent('filechooser')
    const unseen: string[] = []
    const choose = async (item: string) => {
      await keyboard.press('Enter')
      unseen.push(...(await tabTo(page.page, item)))
      await keyboard.press('Enter')
    }
    const hasMenuFocus = () => page.page.locator('[aria-label="More"]:focus').waitFor()
    unseen.push(...(await tabTo(page.page, '[aria-label="More"]')))
    await choose('.menu button:first-child')
    await (await chooser).setFiles(path)
    await page.titled('Import plants.csv')
    unseen.push(...(await tabTo(page.page, 'select')))
    unseen.push(...(await tabTo(page.page, 'dialog .primary')))
    await keyboard.press('Enter')
    await page.titled('Preview of plants.csv')
    unseen.push(...(await tabTo(page.page, 'dialog .primary')))
    await keyboard.press('Enter')
    await page.says('Imported plants.csv')
    await hasMenuFocus()
    await choose('.menu button:nth-child(2)')
    await page.titled('Export plants')
    await keyboard.press('Escape')
    await hasMenuFocus()
    t.same(unseen, [], 'the focus is always visible')
    t.match(await service.stored(4n), { name: 'Abies' })
    t.same(page.complaints, [])
  })

  t.test('a token that can only read cannot import', async (t) => {
    const service = await startService(t)
    const token = await service.issueToken('read', ['read'])
    const page = await open(t, { url: service.url, token })
    await page.page.getByRole('button', { name: 'More' }).click()
    await page.page.getByRole('button', { name: 'Export…' }).waitFor()
    t.equal(await page.page.getByRole('button', { name: 'Import' }).count(), 0)
    await page.drop({ name: 'plants.csv', content: 'id,name\n1,Abies' })
    t.equal(await page.dialog.count(), 0)
    t.equal(page.page.url(), `${service.url}/`, 'the browser does not open the file')
    t.same(page.complaints, [])
  })
})
