import { Command } from 'commander'
import { defaultConfig } from '../../config/config.ts'
import { integer } from '../../config/setting-values.ts'
import { STANDBYS_MAX } from '../../config/settings.ts'
import { describeDatabase, findEngine } from '../../stores/engines.ts'
import { argument, databaseOption } from '../console/options.ts'
import { print } from '../console/output.ts'

/** Defines `plant-store require-standbys`. */
export function requireStandbysCommand(): Command {
  return new Command('require-standbys')
    .description('change how many PostgreSQL standbys must have a change before it is acknowledged')
    .argument('<number>', 'the number of standbys', argument(integer(0, STANDBYS_MAX)))
    .addOption(databaseOption)
    .addHelpText(
      'after',
      '\nRunning services adopt the number. Change their setting too: a service with another number does not start.',
    )
    .action(async (number: number, { database }: { database: string }) => {
      const { lockTimeout } = defaultConfig()
      await findEngine(database).requireStandbys({ database, lockTimeout }, number)
      await print(`required standbys in ${describeDatabase(database)}: ${number}\n`)
    })
}
