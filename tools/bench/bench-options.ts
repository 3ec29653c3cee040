import { Command, InvalidArgumentError, Option } from 'commander'
import { describeMachine } from './figures/machine.ts'
import { ALL_KINDS, DEFAULT_KINDS, type Kind } from './load/request-kinds.ts'

export interface LoadOptions {
  readonly rounds: number
  /** Duration of a slice of load. */
  readonly seconds: number
  /** Seconds of load before the first slice. */
  readonly warmUp: number
  readonly connections: number
}

export interface Options extends LoadOptions {
  readonly kinds: readonly Kind[]
  /** The folder for the results. */
  readonly output?: string
}

/** A command with the options common to all benchmarks of loads. */
export function benchmark(
  name: string,
  description: string,
  defaults: Partial<Options> = {},
): Command {
  const { rounds, seconds, warmUp, connections, kinds } = {
    ...{ rounds: 9, seconds: 1, warmUp: 2, connections: 64, kinds: DEFAULT_KINDS },
    ...defaults,
  }
  return new Command(name)
    .description(description)
    .addOption(numberOption('--rounds <number>', 'slices of load for each subject', rounds))
    .addOption(numberOption('--seconds <number>', 'duration of a slice', seconds))
    .addOption(
      numberOption(
        '--warm-up <seconds>',
        'processor time of the load before the first slice',
        warmUp,
      ),
    )
    .addOption(numberOption('--connections <number>', 'concurrent connections', connections))
    .addOption(new Option('--kinds <kinds...>', 'loads').choices(ALL_KINDS).default(kinds))
    .option('--output <folder>', 'folder to write the results and charts to')
}

/** Describes the machine, the load generator and the load on one line. */
export function describeConditions(generator: string, options: LoadOptions, each = ''): string {
  const { connections, seconds, warmUp, rounds } = options
  const load = `${connections} connections${each}, ${rounds} × ${seconds} s`
  return `${describeMachine()}, ${generator}, ${load} after ${warmUp} s of processor time`
}

function numberOption(flags: string, description: string, value: number): Option {
  return new Option(flags, description).default(value).argParser(parseNumber)
}

/** @throws InvalidArgumentError unless it is a positive integer */
export function parseNumber(value: string): number {
  const number = Number(value)
  if (Number.isSafeInteger(number) && number > 0) return number
  throw new InvalidArgumentError('expected a positive integer')
}

/** Collects the numbers of an option, which replace its default. */
export function parseNumbers(defaults: readonly number[] = []) {
  return (value: string, previous = defaults): readonly number[] => {
    return [...(previous === defaults ? [] : previous), parseNumber(value)]
  }
}
