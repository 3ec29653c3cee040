import { Command, Option } from 'commander'
import { CSV_HEADER } from '../../../core/files/record-formats.ts'
import { exportFormats } from '../../transfer/format.ts'
import { onErrors } from '../../transfer/import.ts'
import { onConflicts } from '../../transfer/import-changes.ts'
import { createOption, databaseOption } from '../console/options.ts'
import type { ExportOptions } from './export-plants.ts'
import type { ImportOptions } from './import-plants.ts'
import { addReadOptions } from './read-options.ts'

/** Defines `plant-store import`. */
export function importCommand(): Command {
  const command = new Command('import')
    .description('import plants from a file; the service can be running')
    .argument('<file>', 'an XLSX, CSV, NDJSON or JSON file; - reads standard input')
    .addOption(
      new Option('--on-error <action>', 'what to do with an invalid record')
        .choices(onErrors)
        .default('stop'),
    )
    .addOption(
      new Option('--on-conflict <action>', 'what to do if a different plant has the same id')
        .choices(onConflicts)
        .default('stop'),
    )
    .option(
      '--match <name>',
      'find the stored plants by an own field or the name instead of the id',
    )
    .addOption(
      new Option(
        '--new-ids',
        'import every record as a new plant with a free id; importing the file again adds the plants again',
      ).conflicts(['match', 'onConflict']),
    )
  return addReadOptions(command)
    .option(
      '--ignore-unknown',
      'ignore the columns of CSV that plants do not have instead of stopping',
    )
    .addOption(
      new Option(
        '--strict',
        'refuse JSON records with properties that plants do not have',
      ).conflicts('ignoreUnknown'),
    )
    .option('--dry-run', 'store nothing, and print what an import would do')
    .addOption(databaseOption)
    .addOption(createOption)
    .addHelpText('after', importHelp)
    .action(async (file: string, options: ImportOptions) => {
      const { importPlants } = await import('./import-plants.ts')
      await importPlants(file, options)
    })
}

/** Defines `plant-store export`. */
export function exportCommand(): Command {
  return new Command('export')
    .description('export a snapshot of the plants in id order')
    .argument('[file]', 'the file to write or replace; - is standard output', '-')
    .addOption(
      new Option(
        '--format <format>',
        'the file format; by default determined by the file extension',
      ).choices(exportFormats),
    )
    .option(
      '--escape-formulas',
      'write CSV that is safe to open in a spreadsheet; this changes the data, so do not import the file',
    )
    .option('--q <text>', 'export only plants whose name contains each word of this text')
    .option('--tag <tag>', 'export only plants with exactly this tag')
    .option('--untagged', 'export only plants without a tag')
    .addOption(
      new Option(
        '--filter <condition>',
        'export only plants whose own fields meet a condition of GET /plants, such as min.height=100; repeatable',
      ).argParser((condition, given: string[] = []) => [...given, condition]),
    )
    .option(
      '--cursor <file>',
      'also write the cursor from which to follow the changes made after the export',
    )
    .addOption(databaseOption)
    .action(async (file: string, options: ExportOptions) => {
      const { exportPlants } = await import('./export-plants.ts')
      await exportPlants(file, options)
    })
}

const importHelp = `
An NDJSON record is a line such as {"id": 4, "name": "Abies alba Mill.", "tag": "Tree"}. A CSV file starts
with a header such as ${CSV_HEADER}. A JSON file is an array, as GET /plants returns it. Plants also have the
own fields with which the database was last served. Refused records are reported on standard error, and a
summary is printed on standard output. Importing the same file again changes nothing, except with --new-ids.
How a file is written and which column has which property is recognized, and shown unless it is as this
service writes it. With --on-conflict update, an empty cell or null removes a value, and columns or properties
that the file lacks stay as they are.
Exit codes: 0 all plants are stored; 1 the import stopped early; 2 some records were skipped; 130 or 143 the
import was interrupted. An import that stops early keeps the records it has already stored. A dry run has
the exit code that the import would have.`
