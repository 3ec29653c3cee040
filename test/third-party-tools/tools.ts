/**
 * Third-party tools accept the contract and the service, and generate clients that work. Downloads the tools, so only
 * `npm run test:tools` runs it.
 */
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdirSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import t, { type Test } from 'tap'
import { messageOf } from '../../src/system/user-errors.ts'
import { installTools } from '../../tools/lint/install.ts'
import { makeFolder, removeFolder } from '../../tools/tap/temporary-folders.ts'
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
  /** Matches the output of a known random failure, after which it is run again. */
  readonly flake?: RegExp
}

const ATTEMPTS_MAX = 4

const TOOLS: readonly Tool[] = [
  { name: 'redocly', success: /Checks: ([1-9]\d*) passed, \1 total/ },
  { name: 'portman', success: /assertions\D+[1-9]\d*\D+0\D/ },
  {
    name: 'specmatic',
    success: /Failures: 0, WIP: 0, Errors: 0/,
    missing: hasJava() ? undefined : 'there is no java',
    // It makes up ids of three digits. In one run of five, two plants get the same one.
    flake: /expected status 200 but response contained status 4(00|09).*Failures: [12],/s,
  },
  { name: 'spectral', success: /No results with a severity of 'hint' or higher found!/ },
]

for (const { name, success, missing, flake } of TOOLS) {
  const script = readFileSync(join(PROJECT, `test/third-party-tools/${name}.sh`), 'utf8')
  t.test(`${name} finds nothing`, { skip: missing ?? false }, async (t) => {
    const { printed } = await runAgainAfterFlake(t, script, flake)
    // Not a comment: after one with a carriage return, as in curl's progress, tap ignores the failure.
    t.ok(success.test(printed), String(success), { printed })
  })
}

/** The command that generates each client. The drivers have the same names. */
const GENERATORS = {
  'hey-api': 'openapi-ts --file config/hey-api.ts',
  kubb: 'kubb generate --config config/kubb.ts',
  oazapfts: 'oazapfts $PROJECT/openapi.yaml generated/oazapfts.ts',
  'openapi-typescript': 'node config/openapi-typescript.ts',
  'openapi-zod-client': 'node config/openapi-zod-client.ts',
  'orval-fetch': 'orval --config config/orval.ts --project fetch',
  'orval-zod': 'orval --config config/orval.ts --project zod',
  'swagger-typescript-api':
    'swagger-typescript-api generate --path $PROJECT/openapi.yaml --output generated/swagger-typescript-api',
}

// A copy, because no other test should find what is installed and generated.
const CLIENTS = join(PROJECT, '.tap/clients')
removeFolder(join(CLIENTS, 'generated'))
cpSync(join(import.meta.dirname, 'clients'), CLIENTS, { recursive: true })
mkdirSync(join(CLIENTS, 'generated'))
installTools(CLIENTS)

/** Runs a shell script in the folder of the generated clients. */
const runHere = (t: Test, script: string) =>
  run(t, `cd ${CLIENTS}\nPATH=$PWD/node_modules/.bin:$PROJECT/node_modules/.bin:$PATH\n${script}`)

for (const [name, command] of Object.entries(GENERATORS)) {
  t.test(`the client that ${name} generates works`, async (t) => {
    const bundle = `esbuild drivers/${name}.ts --bundle --packages=external --format=esm`
    const script = `${command}\n${bundle} --outfile=generated/${name}.js\nnode generated/${name}.js`
    await t.resolves(runHere(t, script))
  })
}

t.test('the generated clients compile in strict mode', async (t) => {
  await t.resolves(runHere(t, 'tsc --project .'))
})

async function runAgainAfterFlake(t: Test, script: string, flake?: RegExp, attempt = 1) {
  try {
    return await run(t, script)
  } catch (error) {
    if (attempt === ATTEMPTS_MAX || !flake?.test(messageOf(error))) throw error
    return runAgainAfterFlake(t, script, flake, attempt + 1)
  }
}

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
    DO_NOT_TRACK: '1',
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

function hasJava(): boolean {
  try {
    execFileSync('java', ['-version'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}
