import { isDeepStrictEqual } from 'node:util'
import { Command } from 'commander'
import { describeDatabase } from '../../stores/engines.ts'
import type { Store } from '../../stores/shared/store.ts'
import { escapeControlCharacters } from '../../system/control-characters.ts'
import { CommandError } from '../../system/user-errors.ts'
import { databaseOption, fromArgument } from '../console/options.ts'
import { print } from '../console/output.ts'
import { withStore } from '../console/store-access.ts'

interface Options {
  readonly database: string
  readonly wait?: true
}

/** What can be copied: items with unique names. */
export interface Kind<Item> {
  /** Such as `token`. */
  readonly kind: string
  /** How many a database can have. */
  readonly max: number
  list(store: Store): Promise<Item[]>
  /**
   * Resolves when the items of a source can be copied.
   *
   * @throws CommandError if they cannot
   */
  prepare(source: Store, from: string, options: Options): Promise<void>
  /** The properties that must be the same in both databases. */
  content(item: Item): unknown
  /** Resolves to a function that adds an item, and resolves to false if its name is taken. */
  adder(store: Store): Promise<(item: Item) => Promise<boolean>>
  /** Removes an item that is to be copied again. Resolves to false if it stays. */
  discard(store: Store, name: string): Promise<boolean>
}

/** Defines a command that copies all items of a kind from another database, except those that are already there. */
export function copyCommand<Item extends { readonly name: string }>(
  description: string,
  kind: Kind<Item>,
): Command {
  return new Command('copy')
    .description(description)
    .addArgument(fromArgument)
    .addOption(databaseOption)
    .action((from: string, options: Options) =>
      withStore({ database: from }, async (source) => {
        await kind.prepare(source, from, options)
        const { database } = options
        const items = await kind.list(source)
        await withStore({ database }, (store) => addMissing(items, kind, store, database))
      }),
    )
}

/** @throws CommandError if there are different items with these names, or too many. Nothing is added then. */
async function addMissing<Item extends { readonly name: string }>(
  items: readonly Item[],
  { kind, max, list, content, adder, discard }: Kind<Item>,
  store: Store,
  database: string,
): Promise<void> {
  const target = describeDatabase(database)
  const present = new Map((await list(store)).map((item) => [item.name, item]))
  const missing = items.filter(({ name }) => !present.has(name)).length
  for (const item of items) {
    const other = present.get(item.name) ?? item
    if (isDeepStrictEqual(content(item), content(other))) continue
    throw new CommandError(
      `${target} has a different ${kind} named ${item.name}; nothing was copied`,
    )
  }
  if (present.size + missing > max) {
    throw new CommandError(`${target} would have more than ${max} ${kind}s; nothing was copied`)
  }
  const add = await adder(store)
  let copied = 0
  let report = ''
  for (const item of items) {
    const { name } = item
    const isMissing = !present.has(name) || (await discard(store, name))
    if (isMissing && !(await add(item))) {
      throw new CommandError(`${kind} ${name} was added to ${target} meanwhile`)
    }
    if (isMissing) copied++
    const action = isMissing ? 'copied' : 'skipped'
    report += `${action} ${escapeControlCharacters(name)}\n`
  }
  await print(`${report}copied ${copied} of ${items.length} ${kind}s to ${target}\n`)
}
