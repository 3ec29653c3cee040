import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

/** Runs a program. Resolves to its standard output; rejects with its standard error if it fails. */
export async function run(program: string, args: readonly string[], cwd?: string): Promise<string> {
  const { stdout } = await promisify(execFile)(program, args, { cwd, maxBuffer: 1 << 26 })
  return stdout
}
