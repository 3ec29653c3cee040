import { fileURLToPath } from 'node:url'
import { Command, Option } from 'commander'
import { argument } from '../src/commands/options.ts'
import { integer } from '../src/config/setting-values.ts'

export interface LoadOptions {
  readonly rounds: number
  readonly seconds: number
  /** The seconds before, which do not count. */
  readonly warmUp: number
  readonly connections: number
  /** The folder for the results. */
  readonly output: string
}

/** A command with the options that all benchmarks have. */
export function benchmark(name: string, description: string): Command {
  const here = fileURLToPath(new URL('.', import.meta.url))
  return new Command(name)
    .description(description)
    .addOption(whole('--rounds <number>', 'how often each is measured; medians count', 3))
    .addOption(whole('--seconds <number>', 'how long each is measured', 8))
    .addOption(whole('--warm-up <seconds>', 'of the same load before', 2))
    .addOption(whole('--connections <number>', 'at the same time', 64))
    .addOption(new Option('--output <folder>', 'where the results are written').default(here))
}

function whole(flags: string, description: string, value: number): Option {
  return new Option(flags, description).default(value).argParser(argument(integer(1, 100_000)))
}
