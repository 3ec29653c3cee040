/** Importing and exporting plants on the page, in a real browser. */

import { truncateSync, writeFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import type { AxeResults } from 'axe-core'
import type { Locator, Page } from 'playwright-core'
import t, { type Test } from 'tap'
import { createClient, type StoredPlant } from '../../client/client.ts'
import { recordFormats } from '../../formats/record-formats.ts'
import { AccessTokens } from '../../service/access-tokens.ts'
import { importPlants } from '../../src/transfer/import.ts'
import { type Service, startService } from '../helpers/service.ts'
import { tabTo } from './keyboard.ts'
import { findIllegible } from './legibility.ts'
import {
  CALM,
  dialogOf,
  type Person,
  PHONE,
  type PlantsPage,
  SMALL_PHONE,
  testInBrowser,
  titled,
} from './plants-page.ts'

const DESK = { viewport: { width: 1280, height: 900 } }

interface DroppedFile {
  readonly name: string
  readonly content: string
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
  async save(name: string): Promise<{ readonly name: string; readonly content: string }> {
    const [download] = await Promise.all([this.page.waitForEvent('download'), this.click(name)])
    const content = await readFile(await download.path(), 'utf8')
    return { name: download.suggestedFilename(), content }
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

  const csvOf = (plants: readonly StoredPlant[]) =>
    recordFormats.csv.header + plants.map(recordFormats.csv.line).join('')

  t.test('a spreadsheet with other columns is mapped, previewed and imported', async (t) => {
    const service = await startService(t)
    await importPlants(service.store, [{ id: 5n, name: 'Stored before', tag: '' }], 'stop')
    const content = [
      'Number;Plante;Remarks;Group',
      '4;Abies alba Mill.;;Tree',
      '5;Acer;"a ""remark""";',
      ';Alnus;;Tree',
      '9223372036854775807;<img src=x onerror=alert(1)>;;\u202egnirts',
      '9223372036854775808;Betula;;',
      '4;Cedrus;;',
      '6;Carex;',
      '7;Cornus;;',
      '',
    ]
    const page = await open(t, service)
    await page.drop({ name: 'My plants.txt', content: content.join('\r\n') })
    await page.titled('Import My plants.txt')
    t.match(await page.dialog.innerText(), 'CSV · UTF-8 · 1 kB')
    t.match(await page.dialog.innerText(), 'Not imported: Plante, Remarks')
    await page.dialog.getByRole('combobox', { name: 'Name' }).selectOption('Plante')
    await page.dialog.getByRole('combobox', { name: 'Tag' }).selectOption('No tags')
    t.match(await page.dialog.innerText(), 'Not imported: Remarks, Group')
    await page.dialog.getByRole('combobox', { name: 'Tag' }).selectOption('Group')
    t.same(await page.dialog.locator('tr.problem').allInnerTexts(), [
      '\tThe id is missing',
      '\tThe id must be between -9223372036854775808 and 9223372036854775807',
      '\tThe row has 3 fields, but the first row has 4',
    ])
    t.same(await page.problems(), [])
    await page.click('Preview')
    await page.titled('Preview of My plants.txt')
    t.same(
      (await page.dialog.getByRole('listitem').allInnerTexts()).map((text) => text.split(/\n+/)),
      [
        ['3 new plants', 'The first one: Line 2', 'In the file: 4 Abies alba Mill. Tree'],
        [
          '1 plant is stored with other content, and will stay',
          'Line 3',
          'In the file: 5 Acer no tag',
          'Stored: 5 Stored before empty tag',
        ],
        [
          '4 rows will be refused',
          'The first one: Line 4: The id is missing',
          'In the file: no id Alnus Tree',
        ],
      ],
    )
    t.same(await page.problems(), [])
    t.equal(await service.count(), 1, 'nothing is stored before')
    await page.click('Import')
    await page.titled('Import finished')
    t.same(await page.counts(), ['3', '0', '5'])
    const refused = await page.dialog.getByRole('listitem').allInnerTexts()
    t.same(
      refused.map((text) => text.slice(0, 'Line 0'.length)),
      ['Line 3', 'Line 4', 'Line 6', 'Line 7', 'Line 8'],
    )
    t.match(refused[1], 'The id is missing')
    t.same(await page.problems(), [])
    const { name, content: csv } = await page.save('Download')
    t.equal(name, 'My plants-refused.csv')
    t.equal(
      csv,
      [
        'line,reason,id,name,tag,stored name,stored tag',
        '4,The id is missing,,Alnus,Tree,,',
        '6,The id must be between -9223372036854775808 and 9223372036854775807,9223372036854775808,Betula,,,',
        '3,A different plant has this id,5,Acer,,Stored before,""',
        '8,"The row has 3 fields, but the first row has 4",6,Carex,,,',
        '7,A different plant has this id,4,Cedrus,,Abies alba Mill.,Tree',
        '',
      ].join('\n'),
    )
    await page.click('Close')
    t.match(await service.stored(2n ** 63n - 1n), {
      name: '<img src=x onerror=alert(1)>',
      tag: '\u202egnirts',
    })
    t.match(await service.stored(5n), { name: 'Stored before' })
    t.same(page.complaints, [])
  })

  t.test('names that were corrected in a spreadsheet replace the stored ones', async (t) => {
    const service = await startService(t)
    await importPlants(service.store, named(500), 'stop')
    const page = await open(t, service, SMALL_PHONE)
    const corrected = named(501).map((plant, index) =>
      index > 0 && index < 4 ? { ...plant, name: `Acer ${index} corrected` } : plant,
    )
    await page.drop({ name: 'plants.csv', content: csvOf(corrected) })
    await page.click('Preview')
    await page.titled('Preview of plants.csv')
    await page.dialog.getByText('3 plants are stored with other content').waitFor()
    await page.dialog.getByLabel('Replace the stored plant').check()
    t.match(
      await page.dialog.innerText(),
      /3 plants will change\s+The first one: Line 3\s+In the file: 2 Acer 1 corrected no tag\s+Stored: 2 Acer 1 no tag/,
    )
    t.match(await page.dialog.innerText(), '497 already stored, or repeated in the file')
    t.same(await page.problems(), [])
    t.equal(await overflowOf(page.dialog), 0)
    await page.click('Back')
    await page.titled('Import plants.csv')
    await page.click('Preview')
    await page.titled('Preview of plants.csv')
    await page.dialog.getByLabel('Replace the stored plant').check()
    await createClient(service).replacePlant(3n, { name: 'Changed by others' })
    await page.click('Import')
    await page.titled('Import finished')
    t.same(await page.counts(), ['1', '2', '497', '1'])
    t.match(await page.dialog.innerText(), 'Line 4: Somebody has changed this plant meanwhile')
    t.same(await page.problems(), [])
    t.equal(await overflowOf(page.dialog), 0)
    t.match(await service.stored(2n), { name: 'Acer 1 corrected' })
    t.match(await service.stored(3n), { name: 'Changed by others' })
    t.match(await service.stored(4n), { name: 'Acer 3 corrected' })
    t.same(page.complaints, [])
  })

  t.test('the line with the column names can be chosen', async (t) => {
    const service = await startService(t)
    const page = await open(t, service, SMALL_PHONE)
    const content =
      'Plants; in 3" pots\r\n\r\nId;Name;Tag\r\n 4 ;Abies "Nana";Tree\r\n007;Acer;\r\n'
    await page.drop({ name: 'plants.csv', content })
    await page.titled('Import plants.csv')
    const header = page.dialog.getByLabel('Header row')
    await header.selectOption('Line 3: Id · Name · Tag')
    await page.dialog.getByText('The id must be written without zeros at the start').waitFor()
    t.same(await page.problems(), [])
    t.equal(await overflowOf(page.dialog), 0)
    t.equal(await header.inputValue(), '3')
    await header.selectOption('None: every line is a plant')
    await page.dialog
      .getByRole('option', { name: 'Column 1' })
      .first()
      .waitFor({ state: 'attached' })
    await header.selectOption('Line 3: Id · Name · Tag')
    await page.dialog.getByText('The id must be written without zeros at the start').waitFor()
    await page.import()
    await page.titled('Import finished')
    t.same(await page.counts(), ['1', '0', '1'])
    t.match(await page.dialog.innerText(), 'Line 5: The id must be')
    t.match(await service.stored(4n), { name: 'Abies "Nana"', tag: 'Tree' })
    t.same(page.complaints, [])
  })

  t.test('plants without ids are numbered, beginning with an id', async (t) => {
    const service = await startService(t)
    await importPlants(service.store, [{ id: 101n, name: 'Stored before' }], 'stop')
    const page = await open(t, service, SMALL_PHONE)
    await page.drop({ name: 'plants.csv', content: 'Name,Tag\nAbies,Tree\nAcer,\nAlnus,' })
    await page.titled('Import plants.csv')
    const id = page.dialog.getByRole('combobox', { name: 'Id', exact: true })
    await id.selectOption('No ids: number them')
    const from = page.dialog.getByLabel('Number them, beginning with')
    await from.fill('x')
    await page.click('Preview')
    t.equal(await page.dialog.locator('input:invalid').count(), 1)
    await page.titled('Import plants.csv')
    await from.fill('100')
    t.same(await page.problems(), [])
    t.equal(await overflowOf(page.dialog), 0)
    await page.click('Preview')
    await page.titled('Preview of plants.csv')
    await page.dialog.getByText('3 new plants').waitFor()
    t.match(await page.dialog.innerText(), 'In the file: 100 Abies Tree')
    await page.click('Back')
    await page.titled('Import plants.csv')
    await from.fill('100')
    await page.import()
    await page.titled('Import finished')
    t.same(await page.counts(), ['3', '0', '0'])
    t.match(await service.stored(101n), { name: 'Stored before' })
    t.match(await service.stored(103n), { name: 'Alnus' })
    t.same(page.complaints, [])
  })

  t.test('an import can stop at a plant that is stored', async (t) => {
    const service = await startService(t)
    await importPlants(service.store, [{ id: 3n, name: 'Stored before' }], 'stop')
    const page = await open(t, service)
    await page.drop({ name: 'plants.csv', content: csvOf(named(5)) })
    await page.click('Preview')
    await page.titled('Preview of plants.csv')
    await page.dialog.getByLabel('Stop the import').check()
    t.match(await page.dialog.innerText(), 'Only the rows before line 4 are imported.')
    await page.click('Import')
    await page.titled('Import stopped')
    t.same(await page.counts(), ['2', '0', '1'])
    t.match(
      await page.dialog.innerText(),
      'A row has the id of a different plant. The rows before it were imported.',
    )
    t.equal(await service.count(), 3)
  })

  t.test('a comparison can be canceled, and fails with a sentence', async (t) => {
    const service = await startService(t)
    const page = await open(t, service)
    const content = csvOf(named(3000))
    // The first requests hang.
    await page.page.route('**/plants?id=*', () => {})
    await page.drop({ name: 'plants.csv', content })
    await page.click('Preview')
    await page.titled('Comparing plants.csv')
    t.same(await page.problems(), [])
    await page.click('Cancel')
    await page.dialog.waitFor({ state: 'detached' })
    await page.page.unroute('**/plants?id=*')
    await page.page.route('**/plants?id=*', (route) => route.fulfill({ status: 404 }))
    await page.drop({ name: 'plants.csv', content })
    await page.click('Preview')
    await page.titled('Nothing was imported')
    t.match(await page.dialog.innerText(), 'responded with status 404')
    t.same(await page.problems(), [])
    await page.page.unroute('**/plants?id=*')
    await page.click('Back')
    await page.import()
    await page.titled('Import finished')
    t.equal(await service.count(), 3000)
  })

  t.test('a long name and tag without spaces leave Import in sight', async (t) => {
    const page = await open(t, await startService(t), PHONE)
    const long = 'x'.repeat(300)
    await page.drop({ name: 'plants.csv', content: `id,name,tag\n1,${long},${long}` })
    await page.titled('Import plants.csv')
    t.equal(await overflowOf(page.dialog), 0)
    t.same(await page.problems(), [])
  })

  t.test('an export can be imported again, and changes nothing', async (t) => {
    const service = await startService(t)
    const plants = [
      { id: -(2n ** 63n), name: 'a,"b";\t\r\nc', tag: '' },
      ...named(2500),
      { id: 2n ** 63n - 1n, name: '=1+1', tag: 'Tree' },
    ]
    await importPlants(service.store, plants, 'stop')
    const page = await open(t, service, PHONE)
    await page.page.getByRole('button', { name: 'Export' }).click()
    await page.titled('Export plants')
    t.match(await page.dialog.innerText(), 'All plants.')
    await page.dialog.getByLabel(/^NDJSON/).check()
    t.same(await page.problems(), [])
    const file = await page.save('Export')
    await page.titled('Export finished')
    t.match(file.name, /^plants-\d{4}-\d\d-\d\d\.ndjson$/)
    t.match(await page.dialog.innerText(), `2,502 plants saved as ${file.name}.`)
    await page.click('Close')
    t.equal(file.content, plants.map(recordFormats.ndjson.line).join(''))

    await page.drop({ name: 'renamed.txt', content: file.content })
    await page.titled('Import renamed.txt')
    await page.import()
    await page.titled('Import finished')
    t.same(await page.counts(), ['0', '2,502', '0'])
    t.same(await page.problems(), [])
    t.same(page.complaints, [])
  })

  t.test('an export for a spreadsheet suits the filter and the country', async (t) => {
    const service = await startService(t)
    const trees = [7n, 2n ** 63n - 1n].map((id) => ({ id, name: '=Abies × 1', tag: 'Tree' }))
    await importPlants(service.store, [...named(5), ...trees], 'stop')
    const page = await open(t, service, { ...SMALL_PHONE, locale: 'de-DE' })
    await page.page.getByLabel('Search names').fill('abies')
    await page.page.getByText('Acer').first().waitFor({ state: 'detached' })
    await page.page.getByRole('button', { name: 'Export' }).click()
    await page.titled('Export plants')
    t.match(await page.dialog.innerText(), 'All plants whose name contains “abies”.')
    t.equal(await page.dialog.getByLabel('Separator').count(), 0)
    await page.dialog.getByLabel('CSV for a spreadsheet').check()
    t.equal(await page.dialog.getByLabel('Separator').inputValue(), ';')
    t.same(await page.problems(), [])
    t.equal(await overflowOf(page.dialog), 0)
    const { name, content } = await page.save('Export')
    const rows = ['7', '9223372036854775807'].map((id) => `${id};"'=Abies × 1";"Tree"\n`)
    t.equal(content, `\ufeffid;name;tag\n${rows.join('')}`)
    t.match(name, /^plants-spreadsheet-name-abies-\d/)
    t.match(
      await page.dialog.innerText(),
      'An id has more than 15 digits: 9223372036854775807. A spreadsheet rounds it.',
    )
    t.same(await page.problems(), [])
    await page.click('Close')
    await page.drop({ name: 'plants.csv', content })
    await page.dialog.getByText('This looks like an export for a spreadsheet').waitFor()
    t.same(await page.problems(), [])
    t.same(page.complaints, [])
  })

  t.test('files that cannot be imported get a sentence', async (t) => {
    const service = await startService(t)
    const page = await open(t, service)
    const path = `${t.testdir({})}/huge.csv`
    writeFileSync(path, 'id,name\n')
    truncateSync(path, 2 ** 31)
    await page.page.locator('input[type=file]').setInputFiles(path)
    await page.titled('Nothing was imported')
    t.match(
      await page.dialog.innerText(),
      'This file has 2.1 GB. Here, a file can have up to 200 MB.',
    )
    for (const { files, problem } of [
      { files: [{ name: 'a.csv', content: 'GIF89a' }], problem: 'This is an image.' },
      {
        files: ['a', 'b'].map((name) => ({ name, content: 'id,name\n1,a' })),
        problem: 'Choose one file at a time.',
      },
    ]) {
      await page.drop(...files)
      await page.dialog.getByText(problem).waitFor()
      t.same(await page.problems(), [])
    }
    await page.drop({ name: 'plants.csv', content: 'id,name\n1,Abies' })
    await page.titled('Import plants.csv')
    t.equal(await service.count(), 0)
    t.same(page.complaints, [])
  })

  t.test('an import pauses when the connection is lost, and continues', async (t) => {
    const service = await startService(t)
    const page = await open(t, service)
    await page.drop({ name: 'plants.csv', content: csvOf(named(3000)) })
    await page.titled('Import plants.csv')
    let batches = 0
    await page.page.route('**/plants', (route) => {
      batches += 1
      return batches === 2
        ? page.page
            .context()
            .setOffline(true)
            .then(() => route.abort())
        : route.continue()
    })
    await page.import()
    await page.titled('Import paused')
    t.match(await page.dialog.innerText(), 'The service could not be reached.')
    t.same(await page.counts(), ['500', '0', '0'])
    await page.page.keyboard.press('Escape')
    t.ok(await page.dialog.isVisible())
    await page.page.context().setOffline(false)
    await page.click('Continue')
    await page.titled('Import finished')
    t.same(await page.counts(), ['3,000', '0', '0'])
    t.equal(await service.count(), 3000)
  })

  t.test('an import can be canceled, and imported again', async (t) => {
    const service = await startService(t)
    const page = await open(t, service)
    await page.drop({ name: 'plants.csv', content: csvOf(named(3000)) })
    let batches = 0
    // The second batch hangs.
    await page.page.route('**/plants', (route) => {
      batches += 1
      return batches === 2 ? undefined : route.continue()
    })
    await page.import()
    await page.dialog.getByText('500').waitFor()
    await page.drop({ name: 'other.csv', content: csvOf(named(3)) })
    await page.click('Cancel')
    await page.titled('Import canceled')
    t.match(await page.dialog.innerText(), 'Importing the file again is safe.')
    await page.click('Close')
    t.equal(await service.count(), 500)
    await page.drop({ name: 'plants.csv', content: csvOf(named(3000)) })
    await page.import()
    await page.titled('Import finished')
    t.same(await page.counts(), ['2,500', '500', '0'])
    t.same(page.complaints, [])
  })

  t.test('a token that is revoked ends an import', async (t) => {
    const service = await startService(t)
    const token = await service.issueToken('revoked', ['read', 'write'])
    const page = await open(t, { url: service.url, token })
    await page.drop({ name: 'plants.csv', content: csvOf(named(3000)) })
    let batches = 0
    await page.page.route('**/plants', async (route) => {
      batches += 1
      if (batches === 2) await new AccessTokens(service.store).revoke('revoked')
      await route.continue()
    })
    await page.import()
    await page.page.getByText('The import has stopped. Importing the file again is safe.').waitFor()
    t.equal(await service.count(), 500)
  })

  t.test('import and export work with the keyboard alone', async (t) => {
    const service = await startService(t)
    const page = await open(t, service)
    const { keyboard } = page.page
    const path = `${t.testdir({ 'plants.csv': 'Plant no.,Name\n4,Abies' })}/plants.csv`
    const chooser = page.page.waitForEvent('filechooser')
    const unseen = await tabTo(page.page, '.commands > button:first-child')
    await keyboard.press('Enter')
    await (await chooser).setFiles(path)
    await page.titled('Import plants.csv')
    unseen.push(...(await tabTo(page.page, 'select')))
    unseen.push(...(await tabTo(page.page, 'dialog .primary')))
    await keyboard.press('Enter')
    await page.titled('Preview of plants.csv')
    unseen.push(...(await tabTo(page.page, 'dialog .primary')))
    await keyboard.press('Enter')
    await page.titled('Import finished')
    await keyboard.press('Escape')
    await page.page.locator('button:focus', { hasText: 'Import' }).waitFor()
    unseen.push(...(await tabTo(page.page, '.commands > button:not(:first-child)')))
    await keyboard.press('Enter')
    await page.titled('Export plants')
    await keyboard.press('Escape')
    await page.page.locator('button:focus', { hasText: 'Export' }).waitFor()
    t.same(unseen, [], 'the focus is always visible')
    t.match(await service.stored(4n), { name: 'Abies' })
    t.same(page.complaints, [])
  })

  t.test('a token that can only read cannot import', async (t) => {
    const service = await startService(t)
    const token = await service.issueToken('read', ['read'])
    const page = await open(t, { url: service.url, token })
    await page.page.getByRole('button', { name: 'Export' }).waitFor()
    t.equal(await page.page.getByRole('button', { name: 'Import' }).count(), 0)
    await page.drop({ name: 'plants.csv', content: 'id,name\n1,Abies' })
    t.equal(await page.dialog.count(), 0)
    t.equal(page.page.url(), `${service.url}/`, 'the browser does not open the file')
    t.same(page.complaints, [])
  })

  t.test('a token that can only write imports', async (t) => {
    const service = await startService(t)
    await importPlants(service.store, [{ id: 1n, name: 'Secret' }], 'stop')
    const token = await service.issueToken('write', ['write'])
    const page = await open(t, { url: service.url, token })
    t.equal(await page.page.getByRole('button', { name: 'Export' }).count(), 0)
    await page.drop({ name: 'plants.csv', content: 'id,name\n1,Abies\n2,Acer' })
    await page.import()
    await page.titled('Import finished')
    t.same(await page.counts(), ['1', '0', '1'])
    t.match(await page.dialog.innerText(), 'Line 2: A different plant has this id')
    t.notMatch(await page.dialog.innerText(), 'Secret')
    t.same(page.complaints, [])
  })
})
