/**
 * Third-party tools accept the contract and the service, and generate clients that compile. Downloads the tools, so only
 * `npm run test:tools` runs it.
 */
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import t, { type Test } from 'tap'
import { makeFolder } from '../../tools/tap/temporary-folders.ts'
import { cleanEnvironment } from '../helpers/processes/command.ts'
import { startService } from '../helpers/service/service.ts'

const PROJECT = fileURLToPath(new URL('../..', import.meta.url))

/** The token in the configuration of Portman. */
const TOKEN = '0123456789abcdef0123'

interface Tool {
  readonly name: string
  /** What its output contains if it finds nothing. */
  readonly success: RegExp
  /** Why it cannot run here. */
  readonly missing?: string | undefined
}

const TOOLS: readonly Tool[] = [
  { name: 'redocly', success: /Checks: ([1-9]\d*) passed, \1 total/ },
  { name: 'portman', success: /assertions\D+[1-9]\d*\D+0\D/ },
  {
    name: 'specmatic',
    success: /Failures: 0, WIP: 0, Errors: 0/,
    missing: hasJava() ? undefined : 'there is no java',
  },
  { name: 'spectral', success: /No results with a severity of 'hint' or higher found!/ },
]

for (const { name, success, missing } of TOOLS) {
  const script = readFileSync(join(PROJECT, `test/third-party-tools/${name}.sh`), 'utf8')
  t.test(`${name} finds nothing`, { skip: missing ?? false }, async (t) => {
    const { printed } = await run(t, script)
    // Not a comment: after one with a carriage return, as in curl's progress, tap ignores the failure.
    t.ok(success.test(printed), String(success), { printed })
  })
}

const clients = commandsOf('docs/third-party-tools.md', 'Generated clients')

t.test('generated clients compile', async (t) => {
  const { folder } = await run(t, clients)
  const options = { strict: true, noEmit: true, skipLibCheck: true, module: 'esnext' }
  const compilerOptions = { ...options, target: 'esnext', moduleResolution: 'bundler', types: [] }
  const config = { compilerOptions, include: [folder] }
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(config))
  const child = spawn(join(PROJECT, 'node_modules/.bin/tsc'), ['-p', folder])
  const [printed, [exitCode]] = await Promise.all([text(child.stdout), once(child, 'close')])
  t.equal(exitCode, 0, printed)
})

/** Runs a shell script in an empty folder, with a service whose store is empty. */
async function run(t: Test, script: string) {
  const { url } = await startService(t, { config: { token: TOKEN } })
  const folder = makeFolder(t, tmpdir())
  const variables = {
    PROJECT,
    TOKEN,
    STORE: url,
    REDOCLY_TELEMETRY: 'off',
    SCARF_ANALYTICS: 'false',
  }
  const child = spawn('bash', ['-e', '-c', `exec 2>&1\n${script}`], {
    cwd: folder,
    env: { ...cleanEnvironment(), ...variables },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  t.teardown(() => child.kill())
  const [printed, [exitCode]] = await Promise.all([text(child.stdout), once(child, 'close')])
  if (exitCode !== 0) throw new Error(printed)
  return { folder, printed }
}

/** The shell commands in a section of a document. */
function commandsOf(document: string, title: string): string {
  const sections = readFileSync(join(PROJECT, document), 'utf8').split(/^## /m)
  const section = sections.find((each) => each.startsWith(`${title}\n`)) as string
  return Array.from(section.matchAll(/^```sh\n([\s\S]*?)^```$/gm), ([, code]) => code).join('')
}

function hasJava(): boolean {
  try {
    execFileSync('java', ['-version'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}
