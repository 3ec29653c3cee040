/** The examples in the documentation that need nothing but Node run as they are printed. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import t, { type Test } from 'tap'
import { makeFolder } from '../tools/temporary-folders.ts'
import { cleanEnvironment, unmeasured } from './helpers/command.ts'
import { type Service, startService } from './helpers/service.ts'

/** The address of the service in the documentation. */
const ADDRESS = 'http://127.0.0.1:3000'

const SPECIFIERS: Readonly<Record<string, string>> = {
  "'plant-store'": sourceOf('src/index.ts'),
  "'plant-store/client'": sourceOf('client/client.ts'),
}

t.test('the JavaScript example reads all pages', async (t) => {
  const service = await startService(t)
  const ids = Array.from({ length: 2500 }, (_, index) => index)
  for (const page of [ids.slice(0, 1000), ids.slice(1000, 2000), ids.slice(2000)]) {
    const body = page.map((id) => ({ id, name: `plant ${id}` }))
    t.match(await service.call({ path: '/plants/batch', body }), { status: 200 })
  }
  const [example = ''] = codeBlocks('docs/examples.md', 'js')
  const printed = ids.map((id) => `${id} plant ${id}\n`).join('')
  t.equal(await runExample(t, service, example), printed)
})

t.test("the README's example of the client works", async (t) => {
  const service = await startService(t)
  const [example = ''] = codeBlocks('README.md', 'ts')
  t.equal(await runExample(t, service, example), '4n Abies alba\n')
  t.equal(await service.count(), 2)
})

t.test("the README's example of a test passes", async (t) => {
  const service = await startService(t)
  const [example = ''] = codeBlocks('README.md', 'js')
  t.match(await runExample(t, service, example), /^(# pass|ℹ pass) 1$/m)
})

t.test("the client's examples of errors print what their comments say", async (t) => {
  const service = await startService(t)
  await service.call({ body: { id: 4, name: 'Abies alba Mill.' } })
  const setup = `
    import { createClient } from 'plant-store/client'
    const store = createClient({ url: '${ADDRESS}', token: process.env.TOKEN })
    const plants = Array.from({ length: 2000 }, (_, i) => ({ id: BigInt(10_000 + i), name: 'Acer' }))
    plants[1017] = { id: 4n, name: 'Acer' }
  `
  const examples = codeBlocks('docs/client.md', 'ts').filter((code) => code.includes('catch'))
  t.equal(examples.length, 2)
  for (const example of examples) {
    const [, comment] = /console\.log\(error\.message\) \/\/ (.*)/.exec(example) ?? []
    t.equal(await runExample(t, service, setup + example), `${comment}\n`)
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
  const blocks = read(document).matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)
  return [...blocks].flatMap(([, name, code = '']) => (name === language ? [code] : []))
}

/** Runs a module, and resolves to what it prints. */
async function runExample(t: Test, service: Service, code: string): Promise<string> {
  const child = startExample(t, service, code)
  const [printed, [exitCode]] = await Promise.all([text(child.stdout), once(child, 'close')])
  t.equal(exitCode, 0)
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
  const [command, args] = unmeasured([process.execPath, 'example.mts'])
  const env = { ...cleanEnvironment(), TOKEN: token }
  const child = spawn(command, args, { cwd: folder, env, stdio: ['ignore', 'pipe', 'inherit'] })
  t.teardown(() => child.kill())
  return child
}

function sourceOf(path: string): string {
  return new URL(`../${path}`, import.meta.url).href
}

function read(path: string): string {
  return readFileSync(fileURLToPath(new URL(`../${path}`, import.meta.url)), 'utf8')
}
