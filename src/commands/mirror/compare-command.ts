import { Command } from 'commander'
import { SOURCE_TOKEN_VARIABLE } from '../../config/config.ts'
import { databaseOption } from '../console/options.ts'
import type { CompareCommandOptions } from './run-compare.ts'

const help = `
The access token of the service comes from ${SOURCE_TOKEN_VARIABLE}, or from a file. It needs the scope read.

The command reads all plants of both databases, which can be in use. Plants that change meanwhile do not count as
different. Exit codes: 0 the plants are equal; 1 they could not be compared; 2 some are different; 130 or 143 a signal
has stopped the command.`

/** Defines `plant-store compare`. */
export function compareCommand(): Command {
  return new Command('compare')
    .description('verify that a mirror has the same plants as its source')
    .argument('<url>', 'the URL of the service, such as https://plants.example.com')
    .option('--token-file <file>', 'a file that contains the access token of the service')
    .addOption(databaseOption)
    .addHelpText('after', help)
    .action(async (url: string, options: CompareCommandOptions) => {
      const { runCompare } = await import('./run-compare.ts')
      await runCompare(url, options)
    })
}
