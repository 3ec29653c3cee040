/**
 * The commands in docs/third-party-tools.md run as they are printed, and report what the page says. `npm run test:system` runs those
 * of the tools that `npm ci` installs. `npm run test:tools` runs all of them and downloads those tools.
 */
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import t, { type Test } from 'tap'
import { makeFolder } from '../tools/temporary-folders.ts'
import { cleanEnvironment } from './helpers/command.ts'
import { startService } from './helpers/service.ts'

const PROJECT = fileURLToPath(new URL('..', import.meta.url))

/** The token in the page, and in its configuration of Portman. */
const TOKEN = '0123456789abcdef0123'

const isDownloading = process.argv[2] === 'all'

const page = readFileSync(join(PROJECT, 'docs/third-party-tools.md'), 'utf8')

interface Tool {
  /** The heading of its section. */
  readonly title: string
  /** Finds in the output what the page says, with N for a number. By default, the line that the section quotes. */
  readonly summarize?: (output: string) => string
  /** Why it cannot run here. */
  readonly missing?: string | undefined
}

const TOOLS: readonly Tool[] = [
  {
    title: 'Redocly',
    summarize: (output) =>
      output.replace(/Checks: ([1-9]\d*) passed, \1 total/, 'Checks: N passed, N total'),
  },
  {
    title: 'Portman and Newman',
    summarize: (output) => {
      const [, failed] = /assertions\D+[1-9]\d*\D+(\d+)/.exec(output) ?? []
      return `N assertions executed, ${failed} failed`
    },
  },
  { title: 'Specmatic', missing: hasJava() ? undefined : 'there is no java' },
  { title: 'Spectral' },
]

for (const { title, summarize = (output: string) => output, missing } of TOOLS) {
  t.test(
    `${title} reports what the page says`,
    { skip: missing ?? skipUnless(title) },
    async (t) => {
      const section = sectionOf(title)
      const [, output, summary] =
        /^(?:Output: `(.*)`|Newman's summary: (.*)\.$)/m.exec(section) ?? []
      const expected = output ?? summary ?? 'a line that starts with "Output:"'
      const { printed } = await run(t, commandsOf(section))
      // Not a comment: after one with a carriage return, as in curl's progress, tap ignores the failure.
      t.ok(summarize(printed).includes(expected), expected, { printed })
    },
  )
}

t.test('generated clients compile', { skip: skipUnless('Generated clients') }, async (t) => {
  const { folder } = await run(t, commandsOf(sectionOf('Generated clients')))
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
  const child = spawn('bash', ['-e', '-c', `exec 2>&1\n${useInstalled(script)}`], {
    cwd: folder,
    env: { ...cleanEnvironment(), ...variables },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  t.teardown(() => child.kill())
  const [printed, [exitCode]] = await Promise.all([text(child.stdout), once(child, 'close')])
  if (exitCode !== 0) throw new Error(printed)
  return { folder, printed }
}

/** Commands with the tools that are installed instead of the same versions from the registry. */
function useInstalled(script: string): string {
  return script.replaceAll(/npx --yes ((?:@\w+\/)?[\w-]+)@([\d.]+)/g, (command, name, version) =>
    versionOf(name) === version
      ? `"${join(PROJECT, 'node_modules/.bin', binaryOf(name))}"`
      : command,
  )
}

/** Why a tool is skipped: unless everything is downloaded, all of its commands must be installed. */
function skipUnless(title: string): string | false {
  const isInstalled = !/\bnpx |\bnpm install/.test(useInstalled(commandsOf(sectionOf(title))))
  return isDownloading || isInstalled ? false : 'npm run test:tools downloads it'
}

function versionOf(name: string): string | undefined {
  const { devDependencies } = JSON.parse(readFileSync(join(PROJECT, 'package.json'), 'utf8'))
  return devDependencies[name]
}

function binaryOf(name: string): string {
  return name === '@redocly/cli' ? 'redocly' : name
}

function sectionOf(title: string): string {
  return page.split(/^## /m).find((section) => section.startsWith(`${title}\n`)) as string
}

function commandsOf(section: string): string {
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
