/**
 * Runs the command in the process of the test, in a tenth of the time that a process of its own takes. For tests of
 * what a command does, not of exit, signals or file descriptors: those need Command.
 */
import { Writable } from 'node:stream'
import { main } from '../../../src/commands/command-line.ts'
import { cleanEnvironment, type Finished } from './command.ts'

const SIGNALS = ['SIGINT', 'SIGTERM'] as const

let isRunning = false

/** Runs the command and resolves to what a process would have printed, and to its exit code. */
export async function runHere(
  args: readonly string[],
  variables: NodeJS.ProcessEnv = {},
): Promise<Finished> {
  if (isRunning) throw new Error('two commands would share their standard output')
  isRunning = true
  const [stdout, stderr] = [new Sink(), new Sink()]
  const env = { ...cleanEnvironment(), ...variables }
  const restore = replaceProcess({ stdout, stderr, env } as unknown as Partial<NodeJS.Process>)
  try {
    await main(args)
    return { code: Number(process.exitCode ?? 0), stdout: stdout.text, stderr: stderr.text }
  } finally {
    restore()
    isRunning = false
  }
}

/** Keeps what is written to it. */
class Sink extends Writable {
  readonly #chunks: Buffer[] = []

  get text(): string {
    return Buffer.concat(this.#chunks).toString()
  }

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.#chunks.push(chunk)
    done()
  }
}

/** @returns a function that restores the originals and removes the signal handlers that were added meanwhile */
function replaceProcess(replacements: Partial<NodeJS.Process>): () => void {
  const { exitCode } = process
  const names = Object.keys(replacements)
  const originals = names.map((name) => Object.getOwnPropertyDescriptor(process, name))
  const handlers = SIGNALS.map((signal) => process.listeners(signal))
  for (const [name, value] of Object.entries(replacements)) {
    Object.defineProperty(process, name, { value, configurable: true })
  }
  process.exitCode = undefined
  return () => {
    process.exitCode = exitCode
    for (const [index, name] of names.entries()) {
      Object.defineProperty(process, name, originals[index] as PropertyDescriptor)
    }
    for (const [index, signal] of SIGNALS.entries()) {
      for (const handler of process.listeners(signal)) {
        if (!handlers[index]?.includes(handler)) process.off(signal, handler)
      }
    }
  }
}
