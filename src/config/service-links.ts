import { VARIABLE_PREFIX } from './settings.ts'

const NAME = /_(SERVICE_HOST|SERVICE_PORT(_\w+)?|PORT_\d+_(TCP|UDP|SCTP)(_\w+)?)$/

/** The value of a variable whose name ends with `_PORT`, like those of our settings. */
const ADDRESS = /^(tcp|udp|sctp):\/\//

/**
 * Removes the variables that Kubernetes sets in every pod for each Service of its namespace ("service links"). If the
 * name of a Service is `plant-store` or starts with `plant-store-`, its variables have our prefix. For `plant-store`,
 * `PLANT_STORE_PORT` is an address.
 *
 * @param environment is modified
 * @returns a warning, or undefined if there are none
 */
export function removeServiceLinks(environment: NodeJS.ProcessEnv): string | undefined {
  const names = Object.entries(environment)
    .filter(([name]) => name.startsWith(VARIABLE_PREFIX))
    .filter(([name, value = '']) => NAME.test(name) || (/_PORT$/.test(name) && ADDRESS.test(value)))
    .map(([name]) => name)
  if (names.length === 0) return undefined
  for (const name of names) delete environment[name]
  return `ignored ${names.join(', ')}, which Kubernetes sets for a Service; set enableServiceLinks: false in the pod's spec`
}
