/** Imports on the page that change some columns of stored plants. */

import { readFile } from 'node:fs/promises'
import t from 'tap'
import { importPlants } from '../../../helpers/plants/import-plants.ts'
import { startService } from '../../../helpers/service/service.ts'
import { named } from '../../../page/changes/run.ts'
import { CALM, dialogOf, messageOf, problemsOf, testInBrowser, titled } from '../../plants-page.ts'

testInBrowser(t, 'imports update plants', (open) => {
  t.test(
    'pasted cells change a column, all changes are shown before, and undo works',
    async (t) => {
      const service = await startService(t)
      const stored = named('Abies', 1, 45).map((plant) => ({ ...plant, tag: 'Tree' }))
      await importPlants(service.store, stored, 'stop')
      const plants = await open(t, service.url, { ...CALM, token: service.token })
      const { page } = plants
      const dialog = dialogOf(plants)
      const click = (name: string) => dialog.getByRole('button', { name, exact: true }).click()
      const paste = (selector: string, text: string) =>
        page.evaluate(`{
        const clipboardData = new DataTransfer()
        clipboardData.setData('text/plain', ${JSON.stringify(text)})
        const event = { clipboardData, bubbles: true, cancelable: true }
        document.querySelector(${JSON.stringify(selector)}).dispatchEvent(new ClipboardEvent('paste', event))
      }`)
      await paste('input', 'id\ttag\n1\tShrub')
      await paste('body', 'Abies')
      t.equal(await dialog.count(), 0, 'fields and single words are no cells')

      const rows = stored.map(({ id }) => `${id}\t${id === 3n ? '' : 'Shrub'}\n`)
      await paste('body', `id\ttag\n${rows.join('')}x\tShrub\n99\tShrub\n`)
      await titled(plants, 'Import Pasted cells')
      await paste('body', 'id\ttag\n1\tHerb\n')
      await click('Preview')
      await titled(plants, 'Preview of Pasted cells')
      t.equal(await dialog.getByLabel('Update the stored plant').isChecked(), true)
      await dialog.getByText('45 plants will change, and 1 value will be removed').waitFor()
      await dialog.getByText('2 rows will be refused').waitFor()
      t.match(await dialog.locator('ul.refused ul').innerText(), 'Line 47: The id must be a whole')
      const changes = () => dialog.locator('tbody').allInnerTexts()
      t.match(await changes(), { length: 20, 2: 'Line 4: 3 Abies\nTag\tTree\tNo tag' })
      await click('Next changes')
      await dialog.getByText('21 to 40').waitFor()
      await click('Next changes')
      await dialog.getByText('41 to 45').waitFor()
      t.match(await changes(), { length: 5, 4: 'Line 46: 45 Abies\nTag\tTree\tShrub' })
      t.equal(await dialog.getByRole('button', { name: 'Next changes' }).isDisabled(), true)
      t.same(await problemsOf(page), [])
      const [saved] = await Promise.all([page.waitForEvent('download'), click('Download changes')])
      t.equal(saved.suggestedFilename(), 'Pasted cells-changes.csv')
      const csv = await readFile(await saved.path(), 'utf8')
      t.match(csv, /^line,reason,id,tag,stored name,stored tag\n2,Differs .*,1,Shrub,Abies,Tree\n/)
      t.equal(csv.split('\n').length, 47)
      await dialog.getByLabel('Keep the stored plant').check()
      await dialog.getByText('47 rows will be refused').waitFor()
      await dialog.getByLabel('Update the stored plant').check()

      await click('Import')
      await titled(plants, 'Import finished')
      t.match(await dialog.locator('.counts').innerText(), /Updated\s+45/)
      t.match(await service.stored(1n), { name: 'Abies', tag: 'Shrub' })
      t.match(await service.stored(3n), { name: 'Abies', tag: null })
      await click('Undo import')
      await dialog.waitFor({ state: 'detached' })
      await messageOf(plants).getByText('Undone: Imported Pasted cells: 45 plants').waitFor()
      t.match(await service.stored(3n), { name: 'Abies', tag: 'Tree' })

      await paste('body', 'name\ttag\nAcer\tTree\nAbies\tTree\n')
      const id = dialog.getByRole('combobox', { name: 'Id', exact: true })
      await id.selectOption('Match rows by Name')
      await click('Preview')
      await titled(plants, 'Preview of Pasted cells')
      await dialog.getByText('1 new plant').waitFor()
      await dialog.getByText('The name is that of the plants 1 and 2').waitFor()
      await click('Import')
      await titled(plants, 'Import finished')
      t.match(await service.stored(46n), { name: 'Acer', tag: 'Tree' })
      t.same(plants.complaints, [])
    },
  )
})
