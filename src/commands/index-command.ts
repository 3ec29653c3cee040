import { Command } from 'commander'
import { removeIndex } from '../../service/sorting.ts'
import { readIndex, type SortIndex } from '../../service/store/sort-index.ts'
import { describeDatabase } from '../stores/engines.ts'
import type { Store } from '../stores/shared/store.ts'
import { CommandError } from '../system/user-errors.ts'
import { databaseOption } from './console/options.ts'
import { formatTable, print } from './console/output.ts'
import { withStore } from './console/store-access.ts'

const removeHelp = `
Remove x-sortable from the contract and restart all services first. A service that still sorts by the member responds
with 503 until it is restarted, which builds the index again.`

/** Defines `plant-store index`. */
export function indexCommand(): Command {
  const command = new Command('index').description(
    'list and remove the indexes by which plants are sorted; the service builds them',
  )
  command
    .command('list')
    .description('list the indexes with their state')
    .addOption(databaseOption)
    .action(({ database }: Located) => listIndexes(database))
  command
    .command('remove')
    .description('remove an index that no service uses any more')
    .argument('<name>', 'the member of plants that it sorts by')
    .addOption(databaseOption)
    .addHelpText('after', removeHelp)
    .action((name: string, { database }: Located) => remove(database, name))
  return command
}

interface Located {
  readonly database: string
}

async function listIndexes(database: string): Promise<void> {
  await withStore({ database }, async (store) => {
    const { records } = await store.listRecords(['sort-index'])
    const rows = records.map(readIndex).map((index) => [index.member.name, describeState(index)])
    await print(formatTable([['NAME', 'STATE'], ...rows]))
  })
}

function describeState({ isComplete, upTo, clears }: SortIndex): string {
  if (isComplete) return 'complete'
  if (clears === 'to-remove') return 'being removed'
  return upTo === undefined ? 'not begun' : `being built, up to the id ${upTo}`
}

/**
 * Removes an index and its keys. A removal that was interrupted continues.
 *
 * @throws CommandError if there is no such index
 */
async function remove(database: string, name: string): Promise<void> {
  await withStore({ database }, async (store) => {
    if (!(await removeIndex(store, name))) throw new CommandError(`index ${name} does not exist`)
    while ((await isRemoving(store, name)) && (await store.indexPlants()));
    await print(
      `removed ${name} in ${describeDatabase(database)}; a service that still sorts by it needs a restart, which builds it again\n`,
    )
  })
}

/** A service that starts in the meantime builds the index again. */
async function isRemoving(store: Store, name: string): Promise<boolean> {
  const record = await store.findRecord('sort-index', { key: name })
  return record !== undefined && readIndex(record).clears === 'to-remove'
}
