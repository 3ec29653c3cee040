/** TLS on the command line, and the warning without it. */
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { request } from 'node:https'
import { promisify } from 'node:util'
import t, { type Test } from 'tap'
import { issue, writeFiles } from '../helpers/certificates.ts'
import { Command, type CommandOptions, withoutTap } from '../helpers/command.ts'

const authority = issue({ name: 'authority' })
const publicName = issue({ name: 'public', hosts: ['plants.example.com'], issuer: authority })
const { tlsCertificate, tlsKey } = writeFiles(t.testdir(), publicName)
const TLS = ['--tls-certificate', tlsCertificate, '--tls-key', tlsKey]
const TLS_VARIABLES = {
  PLANT_STORE_TLS_CERTIFICATE: tlsCertificate,
  PLANT_STORE_TLS_KEY: tlsKey,
}

/** Resolves to the service's URL once it listens. */
async function start(t: Test, args: string[], options: CommandOptions = {}) {
  const all = ['--database', ':memory:', '--port', '0', '--ready-json', ...args]
  const command = new Command(t, all, options)
  const [line] = await command.says(/.*\n/)
  return { command, ...(JSON.parse(line) as { url: string; docs: string }) }
}

t.test('--ready-json prints an HTTPS URL whose certificate can be verified', async (t) => {
  const { url, docs } = await start(t, TLS)
  t.match(url, /^https:\/\/127\.0\.0\.1:\d+$/)
  t.equal(docs, `${url}/documentation`)
  const options = { ca: authority.cert, servername: 'plants.example.com', agent: false }
  const status = await new Promise((resolve, reject) => {
    request(`${url}/health/ready`, options, ({ statusCode }) => resolve(statusCode))
      .on('error', reject)
      .end()
  })
  t.equal(status, 200)
})

const WARNING = '--tls-certificate and --tls-key, or allow only a TLS-terminating proxy'
for (const { args, warns } of [
  { args: ['--host', '0.0.0.0'], warns: 1 },
  { args: ['--host', '0.0.0.0', ...TLS], warns: 0 },
]) {
  const what = warns > 0 ? 'warns' : 'does not warn'
  t.test(`the service ${what} about plain HTTP with ${args[1]} ${args[2] ?? ''}`, async (t) => {
    const { command } = await start(t, args)
    command.process.kill('SIGTERM')
    const { stdout, stderr } = await command.finished()
    const lines = stderr.split('\n').filter((line) => line.includes(WARNING))
    t.equal(lines.length, warns)
    for (const line of lines) t.match(JSON.parse(line), { level: 40 })
    t.notMatch(stdout, WARNING)
  })
}

/** Runs the health check of the image as Docker does. */
function healthCheck(environment: NodeJS.ProcessEnv) {
  const file = readFileSync(new URL('../../Dockerfile', import.meta.url), 'utf8')
  const [, instruction = ''] =
    /^HEALTHCHECK .* CMD (\[.*\])$/m.exec(file.replaceAll('\\\n', '')) ?? []
  const [, ...args] = JSON.parse(instruction)
  return promisify(execFile)(...withoutTap([process.execPath, ...args]), {
    env: { ...process.env, ...environment },
  })
}

for (const [protocol, variables] of Object.entries({ HTTP: {}, HTTPS: TLS_VARIABLES })) {
  t.test(`the image's health check works over ${protocol}`, async (t) => {
    const { command, url } = await start(t, [], { env: variables })
    const environment = { ...variables, PLANT_STORE_PORT: new URL(url).port }
    t.match(await healthCheck(environment), { stdout: '', stderr: '' })
    command.process.kill('SIGTERM')
    await command.finished()
    await t.rejects(healthCheck(environment), { code: 1 }, 'fails once the service has stopped')
  })
}
