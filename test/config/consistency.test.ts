/** Settings that are refused in combination. */
import t from 'tap'
import { startPlantStore } from '../../src/index.ts'

const TOGETHER = '--tls-certificate and --tls-key go together: set both, or neither'
const SAME_PORT = '--admin-port must differ from --port, which is also 3000'
const OTHER_SERVICES = 'because other services can have tokens of the same issuer'

const FOR_TESTS = '--faults is only for tests: it requires'

const REFUSED: readonly [options: object, message: string][] = [
  [
    { contract: 'nursery.yaml', hideFields: true },
    '--contract and --hide-fields exclude each other: only fields that are not in the contract are hidden',
  ],
  [{ tlsCertificate: 'cert.pem' }, TOGETHER],
  [{ tlsKey: 'key.pem' }, TOGETHER],
  [
    { oidcIssuer: 'https://example.com' },
    `--oidc-issuer requires --oidc-audience, ${OTHER_SERVICES}`,
  ],
  [{ oidcAudience: 'urn:plants' }, '--oidc-audience requires --oidc-issuer'],
  [{ oidcClientId: 'page' }, '--oidc-client-id requires --oidc-issuer'],
  ...[3000, '0.0.0.0:3000', '[::]:3000', '[::1]:3000'].map((adminPort): [object, string] => [
    { host: 'localhost', port: 3000, adminPort },
    SAME_PORT,
  ]),
  [{ faults: [], database: 'plants.db' }, `${FOR_TESTS} --database :memory:`],
  [
    { faults: [], adminPort: '0.0.0.0:0' },
    `${FOR_TESTS} an --admin-port of this machine, not of 0.0.0.0`,
  ],
]
for (const [options, message] of REFUSED) {
  t.test(`${JSON.stringify(options)} is refused`, async (t) => {
    await t.rejects(startPlantStore(options), { name: 'Error', message })
  })
}
