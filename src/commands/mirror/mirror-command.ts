import { Command } from 'commander'
import { SOURCE_TOKEN_VARIABLE } from '../../config/config.ts'
import { contractOption, databaseOption, retentionOptions } from '../console/options.ts'
import type { MirrorCommandOptions } from './run-mirror.ts'

const help = `
The access token of the service comes from ${SOURCE_TOKEN_VARIABLE}, or from a file. It needs the scope read.

If the plants of the source have fields of their own, start the mirror with an overlay that has at least these. The
database remembers them, so --contract is needed only at the first start, and to change them.

The command copies all plants to an empty database, which it creates if there is none, and then applies every change
until a signal stops it. It can be killed at any time, and continues where it was. "plant-store serve" can serve reads
from the database meanwhile, once the copy is complete. "plant-store promote" makes it an ordinary database again.
Exit codes: 0 stopped by a signal or, with --once, the mirror has caught up; 1 the mirror cannot continue; 130 or 143 a
signal has stopped it before, with --once, it had caught up.`

/** Defines `plant-store mirror`. */
export function mirrorCommand(): Command {
  const command = new Command('mirror')
    .description('keep a copy of the plants of a running service up to date')
    .argument('<url>', 'the URL of the service, such as https://plants.example.com')
    .option('--token-file <file>', 'a file that contains the access token of the service')
    .option('--once', 'stop when the mirror has caught up')
    .option('--restart', 'copy all plants again')
    .addOption(contractOption)
    .addOption(databaseOption)
    .addHelpText('after', help)
    .action(async (url: string, options: MirrorCommandOptions) => {
      const { runMirror } = await import('./run-mirror.ts')
      await runMirror(url, options)
    })
  for (const option of retentionOptions) command.addOption(option)
  return command
}
