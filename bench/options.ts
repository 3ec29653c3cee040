import { fileURLToPath } from 'node:url'
import { Command, Option } from 'commander'
import { argument } from '../src/commands/options.ts'
import { integer } from '../src/config/setting-values.ts'
import { describeMachine } from './machine.ts'

export interface LoadOptions {
  readonly rounds: number
  readonly seconds: number
  /** Seconds of load before the measurement. */
  readonly warmUp: number
  readonly connections: number
  /** The folder for the results. */
  readonly output: string
}

interface ConnectionsOption {
  readonly description: string
  readonly default: number
}

const CONNECTIONS: ConnectionsOption = { description: 'concurrent connections', default: 64 }

/** A command with the options common to all benchmarks. */
export function benchmark(
  name: string,
  description: string,
  connections: ConnectionsOption = CONNECTIONS,
): Command {
  const here = fileURLToPath(new URL('.', import.meta.url))
  return new Command(name)
    .description(description)
    .addOption(
      numberOption('--rounds <number>', 'measurements of each subject; the median is reported', 3),
    )
    .addOption(numberOption('--seconds <number>', 'duration of a measurement', 8))
    .addOption(numberOption('--warm-up <seconds>', 'duration of the load before a measurement', 2))
    .addOption(numberOption('--connections <number>', connections.description, connections.default))
    .addOption(new Option('--output <folder>', 'folder for the results').default(here))
}

/** Describes the machine, the load generator and the load on one line. */
export function describeConditions(
  generator: string,
  options: LoadOptions,
  each = 'connections',
): string {
  const { connections, seconds, warmUp, rounds } = options
  const load = `${connections} ${each}, ${seconds} s after ${warmUp} s of the same`
  return `${describeMachine()}, ${generator}, ${load}, median of ${rounds}`
}

function numberOption(flags: string, description: string, value: number): Option {
  return new Option(flags, description).default(value).argParser(argument(integer(1, 100_000)))
}
