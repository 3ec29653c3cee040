/**
 * Independent tools read the contract, and check the service against it. `npm run test:system` runs those that `npm ci`
 * installs. `npm run test:tools` downloads and runs all of them.
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

/** The token in the configuration of Portman. */
const TOKEN = '0123456789abcdef0123'

const isDownloading = process.argv[2] === 'all'

interface Tool {
  readonly name: string
  /** Commands for a shell, with the variables of `run`. */
  readonly script: string
  /** Something that the tool prints if it has found nothing. */
  readonly success: string | RegExp
  /** Why it cannot run here. */
  readonly missing?: string | undefined
}

const TOOLS: readonly Tool[] = [
  {
    // `--server` is required because the contract's own server is `/`.
    name: 'Redocly',
    script: `
      npx --yes @redocly/cli@2.77.0 generate-arazzo $PROJECT/openapi.yaml -o plants.arazzo.yaml
      npx --yes @redocly/cli@2.77.0 respect plants.arazzo.yaml --input bearer=$TOKEN --server openapi=$STORE`,
    success: /Checks: ([1-9]\d*) passed, \1 total/,
  },
  {
    // Portman does not declare tslib as a dependency.
    name: 'Portman and Newman',
    script: `
      npx --yes -p @apideck/portman@1.33.0 -p tslib portman -l $PROJECT/openapi.yaml -b $STORE \
        -c $TOOLS/portman.json -o collection.json --runNewman`,
    success: /assertions\D+[1-9]\d*\D+0\D/,
  },
  {
    // The jar, because `npx specmatic` always exits with code 0. Its token is in a variable named after the security
    // scheme. It takes strings for violations of the pattern that forbids U+0000, so sed removes that, and sets the
    // optional id of a body to that of the path. Specmatic makes up ids, so the examples make it use plant 4.
    name: 'Specmatic',
    script: `
      npm install --prefix . specmatic@2.55.1
      sed -e "s/pattern: '[^']*x00[^']*',\\? \\?//" -e 's/^    UnchangedId:$/&\\n      enum: [4]/' \
        $PROJECT/openapi.yaml > plants.yaml
      curl $STORE/plants -H "Authorization: Bearer $TOKEN" -H 'Content-Type: application/json' \
        -d '{"id": 4, "name": "Abies alba Mill.", "tag": "Tree"}'
      bearer=$TOKEN SPECMATIC_GENERATIVE_TESTS=true java -jar node_modules/specmatic/specmatic.jar test \
        plants.yaml --testBaseURL=$STORE \
        --overlay-file=$TOOLS/specmatic/overlay.yaml --examples=$TOOLS/specmatic/examples`,
    success: 'Failures: 0, WIP: 0, Errors: 0',
    missing: hasJava() ? undefined : 'there is no java',
  },
  {
    name: 'Spectral',
    script: `
      echo 'extends: ["spectral:oas"]' > ruleset.yaml
      npx --yes @stoplight/spectral-cli@6.16.3 lint $PROJECT/openapi.yaml --ruleset ruleset.yaml --fail-severity=hint`,
    success: "No results with a severity of 'hint' or higher found!",
  },
]

for (const { name, script, success, missing } of TOOLS) {
  t.test(`${name} finds nothing`, { skip: missing ?? skipUnless(script) }, async (t) => {
    const { printed } = await run(t, script)
    // Not a comment: after one with a carriage return, as in curl's progress, tap ignores the failure.
    t.match(printed, success)
  })
}

const page = readFileSync(join(PROJECT, 'docs/third-party-tools.md'), 'utf8')
const generating = commandsOf(sectionOf('Generated clients'))

t.test('generated clients compile', { skip: skipUnless(generating) }, async (t) => {
  const { folder } = await run(t, generating)
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
    TOOLS: join(PROJECT, 'test/third-party-tools'),
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
function skipUnless(script: string): string | false {
  const isInstalled = !/\bnpx |\bnpm install/.test(useInstalled(script))
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
