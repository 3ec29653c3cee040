import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Test } from 'tap'
import type { Change } from '../../../service/store/change-feed.ts'

const README = readFileSync(new URL('../../../README.md', import.meta.url), 'utf8')

/** The code blocks of a document in a language, in order. */
export function codeBlocksOf(markdown: string, language: string): string[] {
  const blocks = markdown.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)
  return [...blocks].flatMap(([, name, code = '']) => (name === language ? [code] : []))
}

/**
 * Runs the commands of the README's tour in a folder, which has the sample and the token, and asserts that they get the
 * responses that it announces.
 *
 * @param command what runs instead of `npx plant-store`
 */
export async function takeTour(
  t: Test,
  folder: string,
  url: string,
  command: string,
  env?: NodeJS.ProcessEnv,
): Promise<void> {
  const [tour = ''] = /^## Tour$[\s\S]*?^## /m.exec(README) ?? []
  const commands = codeBlocksOf(tour, 'sh').join('').replaceAll('http://127.0.0.1:3000', url)
  // Not a socket, which one command would shut down for all.
  const output = `{ ${commands.replaceAll('npx plant-store', command)}\n} > output`
  const child = spawn('bash', ['-e', '-c', output], { cwd: folder, env, stdio: 'ignore' })
  t.strictSame(await once(child, 'close'), [0, null])
  const printed = readFileSync(join(folder, 'output'), 'utf8')
  const statuses = Array.from(printed.matchAll(/^HTTP\/1\.1 (\d+)/gm), ([, status]) => status)
  t.strictSame(statuses, ['200', '200', '200', '409', '401', '200', '412', '200'])
  const changes: Change[] = JSON.parse(printed.slice(printed.lastIndexOf('[{"cursor"')))
  t.equal(changes.length, 2)
}
