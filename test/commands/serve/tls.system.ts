/** TLS on the command line, and the warning without it. */
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { request } from 'node:https'
import { promisify } from 'node:util'
import t from 'tap'
import { issue, writeFiles } from '../../helpers/network/certificates.ts'
import { Command, withoutTap } from '../../helpers/processes/command.ts'

const authority = issue({ name: 'authority' })
const publicName = issue({ name: 'public', hosts: ['plants.example.com'], issuer: authority })
const { tlsCertificate, tlsKey } = writeFiles(t.testdir(), publicName)
const TLS_VARIABLES = {
  PLANT_STORE_TLS_CERTIFICATE: tlsCertificate,
  PLANT_STORE_TLS_KEY: tlsKey,
}

const WARNING = '--tls-certificate and --tls-key, or allow only a TLS-terminating proxy'

/** Runs the health check of the image as Docker does. */
function healthCheck(environment: NodeJS.ProcessEnv) {
  const file = readFileSync(new URL('../../../deploy/Dockerfile', import.meta.url), 'utf8')
  const [, instruction = ''] =
    /^HEALTHCHECK .* CMD (\[.*\])$/m.exec(file.replaceAll('\\\n', '')) ?? []
  const [, ...args] = JSON.parse(instruction)
  return promisify(execFile)(...withoutTap([process.execPath, ...args]), {
    env: { ...process.env, ...environment },
  })
}

for (const [protocol, variables] of Object.entries({ http: {}, https: TLS_VARIABLES })) {
  t.test(`a service on all addresses over ${protocol}, and the image's health check`, async (t) => {
    const args = ['--database', ':memory:', '--port', '0', '--host', '0.0.0.0', '--ready-json']
    const command = new Command(t, args, { env: variables })
    const [line] = await command.says(/.*\n/)
    const { url, docs } = JSON.parse(line)
    t.match(url, new RegExp(`^${protocol}://127\\.0\\.0\\.1:\\d+$`))
    t.equal(docs, `${url}/documentation`)
    if (protocol === 'https') t.equal(await verifiedStatus(`${url}/health/ready`), 200)
    const environment = { ...variables, PLANT_STORE_PORT: new URL(url).port }
    t.match(await healthCheck(environment), { stdout: '', stderr: '' })
    command.process.kill('SIGTERM')
    const { stdout, stderr } = await command.finished()
    t.equal(stdout, line)
    const warnings = stderr.split('\n').filter((each) => each.includes(WARNING))
    t.equal(warnings.length, protocol === 'http' ? 1 : 0)
    for (const each of warnings) t.match(JSON.parse(each), { level: 40 })
    await t.rejects(healthCheck(environment), { code: 1 }, 'fails once the service has stopped')
  })
}

/** The status of a response from a service whose certificate is verified. */
function verifiedStatus(url: string) {
  const options = { ca: authority.cert, servername: 'plants.example.com', agent: false }
  return new Promise((resolve, reject) => {
    request(url, options, ({ statusCode }) => resolve(statusCode))
      .on('error', reject)
      .end()
  })
}
