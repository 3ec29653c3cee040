import t from 'tap'
import { removeServiceLinks } from '../../src/config/service-links.ts'
import { runHere } from '../helpers/processes/command-here.ts'

/** What Kubernetes sets for a Service with one named port. */
function linksOf(service: string): NodeJS.ProcessEnv {
  const prefix = service.toUpperCase().replaceAll('-', '_')
  return {
    [`${prefix}_SERVICE_HOST`]: '10.0.0.11',
    [`${prefix}_SERVICE_PORT`]: '3000',
    [`${prefix}_SERVICE_PORT_HTTP`]: '3000',
    [`${prefix}_PORT`]: 'tcp://10.0.0.11:3000',
    [`${prefix}_PORT_3000_TCP`]: 'tcp://10.0.0.11:3000',
    [`${prefix}_PORT_3000_TCP_PROTO`]: 'tcp',
    [`${prefix}_PORT_3000_TCP_PORT`]: '3000',
    [`${prefix}_PORT_3000_TCP_ADDR`]: '10.0.0.11',
  }
}

for (const service of ['plant-store', 'plant-store-admin', 'plant-store-db']) {
  t.test(`the variables of a Service named ${service} are removed`, async (t) => {
    const links = linksOf(service)
    const environment = { ...links, PLANT_STORE_HOST: '0.0.0.0', OTHER_PORT: 'tcp://10.0.0.12:1' }
    t.equal(
      removeServiceLinks(environment),
      `ignored ${Object.keys(links).join(', ')}, which Kubernetes sets for a Service; set enableServiceLinks: false in the pod's spec`,
    )
    t.strictSame(environment, { PLANT_STORE_HOST: '0.0.0.0', OTHER_PORT: 'tcp://10.0.0.12:1' })
  })
}

t.test('settings and misspelled variables are kept', async (t) => {
  const environment = {
    PLANT_STORE_PORT: '3001',
    PLANT_STORE_ADMIN_PORT: '0.0.0.0:3002',
    PLANT_STORE_ADMN_PORT: '3002',
    PLANT_STORE_SERVICE: 'x',
  }
  const before = { ...environment }
  t.equal(removeServiceLinks(environment), undefined)
  t.strictSame(environment, before)
})

t.test('the service starts in a pod next to a Service named plant-store', async (t) => {
  // The start fails after the settings are read, so that the test needs no fixed port.
  const env = { ...linksOf('plant-store'), PLANT_STORE_DATABASE: 'mysql://host/plants' }
  const { code, stderr } = await runHere([], env)
  t.equal(code, 1)
  t.match(
    stderr,
    /^plant-store: ignored .*enableServiceLinks: false.*\nplant-store: unsupported database URL .*\n$/,
  )
})
