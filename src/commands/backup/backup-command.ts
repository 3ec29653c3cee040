import { Command, InvalidArgumentError } from 'commander'
import { duration, integer } from '../../config/setting-values.ts'
import { argument, databaseOption } from '../console/options.ts'

const KEEP = 24

const INTERVAL_MS_MIN = 1000

/** Node's timers support at most 24.8 days. */
const INTERVAL_MAX = '24d'

interface BackupCommandOptions {
  readonly database: string
  readonly every?: number
  readonly keep?: number
  readonly metricsFile?: string
}

const help = `
With --every, the command runs until a signal stops it. It makes a backup at once, unless the newest one is recent
enough, names each by its time in UTC, such as plants-2026-11-21T15-00-00Z.db, and removes the oldest of them
beyond --keep. It never changes other files. A failed backup is reported and tried again.

The checksum of a backup is next to it, in FILE.sha256. "plant-store check" compares the two.

"plant-store restore" restores a backup.`

const restoreHelp = `
Nothing is overwritten: stop the service, and move the old database away with its -wal and -shm files. The backup stays
as it is. Prints what to do about tokens, webhooks and consumers of the change feed.`

export function backupCommand(): Command {
  const command = new Command('backup')
    .description('copy the database to a new file and verify the copy; the service can be running')
    .argument('<file>', 'the file to create, which must not exist; with --every, a folder')
    .option(
      '--every <interval>',
      'make a backup at each interval, such as 1h',
      argument(readInterval),
    )
    .option(
      '--keep <count>',
      `with --every, how many backups to keep (default: ${KEEP})`,
      argument(integer(1, 1_000_000)),
    )
    .option(
      '--metrics-file <file>',
      'with --every, a file for the textfile collector of node_exporter, such as plant-store.prom',
    )
    .addOption(databaseOption)
    .addHelpText('after', help)
    .action(async (file: string, { database, every, keep, metricsFile }: BackupCommandOptions) => {
      if (every === undefined) {
        if (keep !== undefined) command.error("error: option '--keep' requires '--every'")
        if (metricsFile !== undefined) {
          command.error("error: option '--metrics-file' requires '--every'")
        }
        const { backup } = await import('./backup.ts')
        await backup(file, database)
      } else {
        const { backUpRepeatedly } = await import('./repeated-backup.ts')
        await backUpRepeatedly(file, {
          database,
          intervalMs: every,
          keep: keep ?? KEEP,
          metricsFile,
        })
      }
    })
  return command
}

export function restoreCommand(): Command {
  return new Command('restore')
    .description('make a new database of a backup, and verify it')
    .argument('<backup>', 'a file that "plant-store backup" made')
    .addOption(databaseOption)
    .addHelpText('after', restoreHelp)
    .action(async (file: string, { database }: BackupCommandOptions) => {
      const { restore } = await import('./backup.ts')
      await restore(file, database)
    })
}

const readDuration = duration(INTERVAL_MAX)

function readInterval(value: string): number {
  const interval = readDuration(value)
  if (interval >= INTERVAL_MS_MIN) return interval
  throw new InvalidArgumentError('Expected at least 1s.')
}
