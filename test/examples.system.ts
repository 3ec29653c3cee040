/** The examples in the documentation that need nothing but Node run as they are printed. */
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import t, { type Test } from 'tap'
import ts from 'typescript'
import { makeFolder } from '../tools/tap/temporary-folders.ts'
import { startFaulty } from './faults/faulty-service.ts'
import { cleanEnvironment, withoutTap } from './helpers/processes/command.ts'
import { codeBlocksOf, takeTour } from './helpers/processes/tour.ts'
import { type Service, startService } from './helpers/service/service.ts'

const ROOT = fileURLToPath(new URL('..', import.meta.url))

/** The command line, for a shell. */
const COMMAND = `"${process.execPath}" "${join(ROOT, 'bin/plant-store.js')}"`

/** The address of the service in the documentation. */
const ADDRESS = 'http://127.0.0.1:3000'

const SPECIFIERS: Readonly<Record<string, string>> = {
  "'plant-store'": sourceOf('src/index.ts'),
  "'plant-store/client'": sourceOf('client/client.ts'),
  "'plant-store-client'": sourceOf('client/client.ts'),
}

const noPython = skipUnless('python3', '--version')
const noRequests = noPython || skipUnless('python3', '-c', 'import requests')

const PROGRAMS = [
  { language: 'python', file: 'plants.py', command: ['python3', '-u'], skip: noRequests },
  { language: 'go', file: 'plants.go', command: ['go', 'run'], skip: skipUnless('go', 'version') },
]

for (const { language, file, command, skip } of PROGRAMS) {
  const [program = '', ...args] = command
  t.test(`the program in ${language} keeps a copy in spite of failures`, { skip }, async (t) => {
    const { service, injection } = await startFaulty(t, [
      { operation: 'createPlant', first: 1, cut: 'before-response' },
      { operation: 'listPlants', nth: 2, cut: 'in-body' },
      { operation: 'listPlants', nth: 3, error: 'too-many-requests', retryAfter: 1 },
      { operation: 'listChanges', nth: 2, error: 'store-busy', retryAfter: 1 },
      { operation: 'listChanges', nth: 4, error: 'cursor-expired' },
    ])
    for (const start of [0, 1000]) {
      const body = Array.from({ length: 1000 }, (_, index) => ({ id: start + index, name: 'x' }))
      t.match(await service.call({ path: '/plants/batch', body }), { status: 200 })
    }
    const [code = ''] = codeBlocks('docs/other-languages.md', language)
    const folder = makeFolder(t, tmpdir())
    writeFileSync(join(folder, file), code.replaceAll(ADDRESS, service.url))
    const child = spawn(program, [...args, file], {
      cwd: folder,
      detached: true,
      env: { ...cleanEnvironment(), TOKEN: service.token },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    // `go run` starts another process.
    t.teardown(() => process.kill(-Number(child.pid)))
    const lines = createInterface(child.stdout)[Symbol.asyncIterator]()
    const prints = async (line: string) => t.equal((await lines.next()).value, line)

    await prints('2001 plants')
    await service.call({ method: 'PATCH', path: '/plants/4', body: { name: 'y' } })
    await prints('changed 4: 2001 plants')
    await prints('2001 plants')
    await service.call({ method: 'DELETE', path: `/plants/${2n ** 63n - 1n}` })
    await prints(`removed ${2n ** 63n - 1n}: 2000 plants`)
    const failed = injection.requests.flatMap(({ fault }) => (fault === undefined ? [] : [fault]))
    t.same(new Set(failed).size, injection.faults.length)
  })
}

t.test("the README's tour gets the responses that it announces", async (t) => {
  const service = await startService(t, { inFile: true })
  const folder = makeFolder(t, tmpdir())
  cpSync(join(ROOT, 'data/sample.csv'), join(folder, 'data/sample.csv'))
  writeFileSync(join(folder, 'data/access-token'), `${service.token}\n`)
  const env = { ...cleanEnvironment(), PLANT_STORE_DATABASE: service.database }
  await takeTour(t, folder, service.url, COMMAND, env)
})

t.test("the README's example of the client works", async (t) => {
  const service = await startService(t)
  const [example = ''] = codeBlocks('README.md', 'ts')
  t.equal(await runExample(t, service, example), '90001n Abies alba\n')
  t.equal(await service.count(), 2)
})

t.test('the tests of failures in docs/testing.md pass', async (t) => {
  const service = await startService(t)
  const [failures = ''] = codeBlocks('docs/testing.md', 'js')
  t.match(await runExample(t, service, failures), /^(# pass|ℹ pass) 3$/m)
})

/** A client that the Python test in docs/testing.md can import. */
const PYTHON_CLIENT = `
import json, os
from http.client import HTTPException
from urllib.request import Request, urlopen

def create_plant(url, plant):
    headers = {'Authorization': 'Bearer ' + os.environ['PLANT_STORE_TOKEN'], 'Content-Type': 'application/json'}
    for attempt in range(1, ATTEMPTS + 1):
        try:
            with urlopen(Request(url + '/plants', json.dumps(plant).encode(), headers), timeout=10) as response:
                return json.load(response)
        except (OSError, HTTPException):
            if attempt == ATTEMPTS:
                raise
`

t.test('the Python test of a failure in docs/testing.md', { skip: noPython }, async (t) => {
  const [commands = ''] = codeBlocks('docs/testing.md', 'sh').filter((code) =>
    code.includes('python3'),
  )
  const [tests = ''] = codeBlocks('docs/testing.md', 'python')
  // The same folder, because the commands can be repeated.
  const folder = makeFolder(t, tmpdir())
  writeFileSync(join(folder, 'test_plants.py'), tests)
  for (const [attempts, outcome] of [
    ['10', /^Ran 1 test in .*\n\nOK$/m],
    ['1', /^FAILED \(errors=1\)$/m],
  ] as const) {
    // Of another length, so that Python does not use the compiled file of the other one.
    writeFileSync(join(folder, 'plants.py'), `ATTEMPTS = ${attempts}\n${PYTHON_CLIENT}`)
    const script = commands.replace('node_modules/.bin/plant-store', COMMAND)
    const child = spawn('bash', ['-c', script], { cwd: folder, env: cleanEnvironment() })
    t.teardown(() => child.kill())
    t.match(await text(child.stderr), outcome)
  }
})

t.test('the stores of parallel workers in docs/testing.md', { skip: noPython }, async (t) => {
  const [, start = ''] = codeBlocks('docs/testing.md', 'python')
  const resets = codeBlocks('docs/testing.md', 'sh').find((code) => code.includes('/store'))
  const folder = makeFolder(t, tmpdir())
  writeFileSync(join(folder, 'faults.json'), '[]')
  writeFileSync(join(folder, 'plants.ndjson'), '{"id":1,"name":"Abies"}\n')
  writeFileSync(join(folder, 'reset.sh'), `set -e\n${resets}`)
  const script = `${start.replace("'node_modules/.bin/plant-store'", COMMAND.replace(' ', ', '))}
import os
workers = [start_store() for _ in range(2)]
assert len({ready['adminUrl'] for _, ready in workers}) == 2
for process, ready in workers:
    subprocess.run(['bash', 'reset.sh'], check=True, env={**os.environ, 'ADMIN_URL': ready['adminUrl']})
for process, _ in workers:
    process.terminate()
    assert process.wait() == 0
`
  const options = { cwd: folder, env: cleanEnvironment(), stdio: 'ignore' } as const
  const child = spawn('python3', ['-c', script], options)
  t.teardown(() => child.kill())
  t.strictSame(await once(child, 'close'), [0, null])
})

t.test("the client's example of an error prints what its comment says", async (t) => {
  const service = await startService(t)
  await service.call({ body: { id: 4, name: 'Abies alba Mill.' } })
  const setup = `
    import { createClient } from 'plant-store/client'
    const store = createClient({ url: '${ADDRESS}', token: process.env.TOKEN })
    const plants = Array.from({ length: 2000 }, (_, i) => ({ id: BigInt(10_000 + i), name: 'Acer' }))
    plants[1017] = { id: 4n, name: 'Acer' }
  `
  const examples = codeBlocks('docs/client.md', 'ts').filter((code) => code.includes('catch'))
  t.equal(examples.length, 1)
  for (const example of examples) {
    const [, comment] = /console\.log\(error\.message\) \/\/ (.*)/.exec(example) ?? []
    t.equal(await runExample(t, service, setup + example), `${comment}\n`)
  }
})

/** What examples use without saying where it comes from. */
const CONTEXT = `
  declare const createClient: typeof import('plant-store/client').createClient
  declare const store: import('plant-store/client').PlantStoreClient
  declare const plants: import('plant-store/client').NewPlant[]
  declare const signal: AbortSignal
  declare const token: string
  declare const cursor: string
  declare const apply: (transaction: import('plant-store/client').Change[]) => void
  declare let after: string | undefined
`

/** The types that a reader generates from the document of a service with own fields. */
const GENERATED = `
  export interface components {
    schemas: {
      Plant: { name: string; tag?: string; height?: number; light?: 'sun' | 'shade'; serial?: number }
    }
  }
`

t.test('every TypeScript example compiles in strict mode', async (t) => {
  const folder = makeFolder(t, tmpdir())
  writeFileSync(join(folder, 'plants.ts'), GENERATED)
  const documents = ['README.md', 'client/README.md', ...globSync('docs/*.md', { cwd: ROOT })]
  const files = documents.flatMap((document) =>
    codeBlocks(document, 'ts').map((code, index) => {
      const file = join(folder, `${document.replaceAll('/', '-')}-${index}.mts`)
      writeFileSync(file, `${code}\nexport {}\n`)
      return file
    }),
  )
  t.ok(files.length > 4)
  const context = join(folder, 'context.d.ts')
  writeFileSync(context, CONTEXT)
  const program = ts.createProgram([...files, context], {
    strict: true,
    noEmit: true,
    skipLibCheck: true,
    allowImportingTsExtensions: true,
    target: ts.ScriptTarget.ESNext,
    module: ts.ModuleKind.NodeNext,
    types: ['node'],
    typeRoots: [join(ROOT, 'node_modules/@types')],
    paths: {
      'plant-store': [join(ROOT, 'src/index.ts')],
      'plant-store/client': [join(ROOT, 'client/client.ts')],
      'plant-store-client': [join(ROOT, 'client/client.ts')],
    },
  })
  for (const file of files) {
    const errors = ts.getPreEmitDiagnostics(program, program.getSourceFile(file))
    t.strictSame(
      errors.map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n')),
      [],
      basename(file),
    )
  }
})

t.test('the mirror of the plants follows the store', async (t) => {
  const service = await startService(t)
  await service.call({ body: { id: 4, name: 'Abies alba Mill.' } })
  const [example = ''] = codeBlocks('docs/changes.md', 'ts')
  const mirror = startExample(t, service, example)
  let text = ''
  mirror.stdout.setEncoding('utf8').on('data', (part: string) => {
    text += part
  })
  const says = async (pattern: RegExp) => {
    while (!pattern.test(text)) await once(mirror.stdout, 'data')
  }
  // The program prints nothing before the first change that it follows.
  let creates = 0
  const timer = setInterval(() => {
    creates++
    service.call({ body: { id: 4 + creates, name: 'Acer rubrum L.' } }).catch(() => {})
  }, 100)
  t.teardown(() => clearInterval(timer))
  await says(/\n/)
  clearInterval(timer)
  const [, id, count] = /^created (\d+): (\d+) plants$/m.exec(text) ?? []
  t.ok(Number(count) >= 2 && Number(id) > 4, text)
  await service.call({ method: 'DELETE', path: '/plants/4' })
  await says(/^removed 4: \d+ plants$/m)
})

t.test('each request in docs/plants.http gets the status in its title', async (t) => {
  const service = await startService(t)
  const [variables = '', ...requests] = read('docs/plants.http').split(/^### /m)
  const values = Object.fromEntries(
    Array.from(variables.matchAll(/^@(\w+) = (.*)$/gm), ([, name, value]) => [name, value]),
  )
  t.strictSame(values, { store: ADDRESS, token: 'paste-your-token' })
  for (const request of requests) {
    const [title = '', ...lines] = request
      .replaceAll('{{store}}', service.url)
      .replaceAll('{{token}}', service.token)
      .split('\n')
    const [head = '', body = ''] = lines.join('\n').split('\n\n')
    const [requestLine = '', ...headerLines] = head.trim().split('\n')
    const [method = '', url = ''] = requestLine.split(' ')
    const response = await fetch(url, {
      method,
      headers: headerLines.map((line) => line.split(': ') as [string, string]),
      ...(body.trim() !== '' && { body }),
    })
    const [, status] = /^(\d{3})\b/.exec(title) ?? []
    if (status === undefined) t.ok(response.ok, title)
    else t.equal(response.status, Number(status), title)
    await response.text()
  }
})

/** The code blocks of a document in a language, in order. */
function codeBlocks(document: string, language: string): string[] {
  return codeBlocksOf(read(document), language)
}

/** Why a test that needs a command is skipped: `false` if the command succeeds. */
function skipUnless(command: string, ...args: string[]): string | false {
  return spawnSync(command, args).status !== 0 && `requires ${[command, ...args].join(' ')}`
}

/** Runs a module, and resolves to what it prints. */
async function runExample(
  t: Test,
  service: Service,
  code: string,
  expectedExitCode = 0,
): Promise<string> {
  const child = startExample(t, service, code)
  const [printed, [exitCode]] = await Promise.all([text(child.stdout), once(child, 'close')])
  t.equal(exitCode, expectedExitCode)
  return printed
}

/** Starts a module in a folder with a token file. It gets the token as a variable too. */
function startExample(t: Test, { url, token }: Service, code: string) {
  const folder = makeFolder(t, tmpdir())
  mkdirSync(join(folder, 'data'))
  writeFileSync(join(folder, 'data/access-token'), `${token}\n`)
  let source = code.replaceAll(ADDRESS, url)
  for (const [specifier, path] of Object.entries(SPECIFIERS)) {
    source = source.replaceAll(specifier, `'${path}'`)
  }
  writeFileSync(join(folder, 'example.mts'), source)
  const [command, args] = withoutTap([process.execPath, 'example.mts'])
  const env = { ...cleanEnvironment(), TOKEN: token }
  const child = spawn(command, args, { cwd: folder, env, stdio: ['ignore', 'pipe', 'inherit'] })
  t.teardown(() => child.kill())
  return child
}

function sourceOf(path: string): string {
  return new URL(`../${path}`, import.meta.url).href
}

function read(path: string): string {
  return readFileSync(join(ROOT, path), 'utf8')
}
