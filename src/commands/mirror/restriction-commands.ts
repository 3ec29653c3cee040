import { Command } from 'commander'
import {
  isConsistent,
  type MirrorRestriction,
  type Restriction,
  readRestriction,
  restrict,
} from '../../../service/restriction.ts'
import { describeDatabase } from '../../stores/engines.ts'
import type { Store } from '../../stores/shared/store.ts'
import { escapeControlCharacters } from '../../system/control-characters.ts'
import { CommandError } from '../../system/user-errors.ts'
import { databaseOption } from '../console/options.ts'
import { print } from '../console/output.ts'
import { withStore } from '../console/store-access.ts'

interface Options {
  readonly database: string
}

/** Defines `plant-store freeze`. */
export function freezeCommand(): Command {
  return new Command('freeze')
    .description('refuse changes to the plants, to move them to another database')
    .addOption(databaseOption)
    .addHelpText(
      'after',
      '\nRunning services respond to changes with 503. Tokens and webhooks are not frozen.',
    )
    .action(({ database }: Options) =>
      withStore({ database }, async (store) => {
        const name = describeDatabase(database)
        const before = await changeRestriction(store, (restriction) => {
          refuseMirror(restriction, `cannot freeze ${name}`)
          return 'frozen'
        })
        const state = before === 'frozen' ? 'already frozen' : 'frozen'
        await print(`${state}: changes to ${name} are refused until plant-store unfreeze\n`)
      }),
    )
}

/** Defines `plant-store unfreeze`. */
export function unfreezeCommand(): Command {
  return new Command('unfreeze')
    .description('accept changes to the plants again')
    .addOption(databaseOption)
    .action(({ database }: Options) =>
      withStore({ database }, async (store) => {
        const name = describeDatabase(database)
        const before = await changeRestriction(store, (restriction) => {
          refuseMirror(restriction, `cannot unfreeze ${name}`)
          return undefined
        })
        const state = before === undefined ? 'not frozen' : 'unfrozen'
        await print(`${state}: changes to ${name} are accepted\n`)
      }),
    )
}

const afterPromotion = `
If you have not done so, copy the tokens and webhooks of the source with plant-store token copy and plant-store
webhook copy. Then point clients at the service of this database; cursors of the source get 410 there.
`

/** Defines `plant-store promote`. */
export function promoteCommand(): Command {
  return new Command('promote')
    .description('make a mirror an ordinary database, which accepts changes')
    .addOption(databaseOption)
    .addHelpText('after', '\nA plant-store mirror that is still running stops.')
    .action(({ database }: Options) =>
      withStore({ database }, async (store) => {
        const name = describeDatabase(database)
        let source = ''
        await changeRestriction(store, (restriction) => {
          source = requirePromotable(restriction, `cannot promote ${name}`).source
          return undefined
        })
        await print(
          `promoted: ${name} no longer mirrors ${escapeControlCharacters(source)} and accepts changes${afterPromotion}`,
        )
      }),
    )
}

/**
 * Changes the restriction. Tries again whenever another process changes it in between, as `plant-store mirror` does with
 * each of its steps.
 *
 * @param decide returns the next restriction, or throws
 * @returns the restriction before the change
 */
async function changeRestriction(
  store: Store,
  decide: (restriction: Restriction | undefined) => Restriction | undefined,
): Promise<Restriction | undefined> {
  for (;;) {
    const expected = await readRestriction(store)
    const next = decide(expected)
    if (next === expected || (await restrict(store, { expected, next })) === 'done') return expected
  }
}

/** @throws CommandError */
function refuseMirror(restriction: Restriction | undefined, problem: string): void {
  if (typeof restriction !== 'object') return
  throw new CommandError(
    `${problem}: it mirrors ${restriction.source}, so only plant-store mirror changes it`,
  )
}

/** @throws CommandError */
function requirePromotable(
  restriction: Restriction | undefined,
  problem: string,
): MirrorRestriction {
  if (typeof restriction !== 'object') throw new CommandError(`${problem}: it is not a mirror`)
  if (isConsistent(restriction)) return restriction
  throw new CommandError(
    `${problem}: it is still copying the plants of ${restriction.source}; let plant-store mirror catch up first`,
  )
}
