import { resolve } from 'node:path'
import type { Config } from '../config/config.ts'
import type { Access } from '../first-token.ts'
import { type Certificate, covers } from '../http/certificate.ts'
import { DOCS_PATH } from '../http/docs.ts'
import type { Location } from '../stores/engine.ts'
import { locationOf } from '../stores/engines.ts'

/** A name without a wildcard, in the notation of X509Certificate.subjectAltName. */
const DNS_NAME = /(?:^|, )DNS:([\w.-]+)(?:,|$)/

/** What whoever started the service wants to know first, with a command that works as pasted. */
export function greeting(
  config: Config,
  url: string,
  access: Access,
  certificate?: Certificate,
): string {
  const { place, bearer } = describe(access)
  const docs = config.docs ? `\n  docs      ${docsOf(url)}` : ''
  return `Plant Store listens on ${url}${docs}
  database  ${nameOf(locationOf(config.database))}
  token     ${place}

Create a plant:
  ${curl(`${url}/plants`, certificate)} -H "Authorization: Bearer ${bearer}" -H 'Content-Type: application/json' -d '{"id": 4, "name": "Abies alba Mill.", "tag": "Tree"}'
`
}

/** The same for a program: an object of JSON on a line. It has the token where that is in no file. */
export function readyLine(config: Config, url: string, access: Access): string {
  const docs = config.docs ? { docs: docsOf(url) } : {}
  const token = 'token' in access ? { token: access.token } : {}
  return `${JSON.stringify({ url, ...docs, ...token })}\n`
}

/** A curl command that verifies the certificate, even if its name differs from the URL's. */
function curl(url: string, certificate?: Certificate): string {
  if (certificate === undefined) return `curl ${url}`
  const { x509, files } = certificate
  const { hostname, host, port, pathname } = new URL(url)
  const name = DNS_NAME.exec(`${x509.subjectAltName}`)?.[1]
  const command = ['curl']
  if (name === undefined || covers(x509, hostname.replace(/[[\]]/g, ''))) command.push(url)
  else command.push(`https://${name}:${port}${pathname}`, '--connect-to', `'::${host}'`)
  const isSelfSigned = x509.checkIssued(x509)
  if (isSelfSigned) command.push('--cacert', `'${shellQuoted(resolve(files.certificate))}'`)
  return command.join(' ')
}

function docsOf(url: string): string {
  return url + DOCS_PATH
}

function nameOf(place: Location): string {
  if ('memory' in place) return 'in memory'
  return 'file' in place ? place.file : place.server
}

function describe(access: Access): { place: string; bearer: string } {
  if ('token' in access) return { place: access.token, bearer: access.token }
  if ('variable' in access) {
    return { place: `in ${access.variable}`, bearer: `$${access.variable}` }
  }
  if ('file' in access)
    return { place: access.file, bearer: `$(cat '${shellQuoted(access.file)}')` }
  return { place: `none at hand; make one with ${access.command}`, bearer: '<token>' }
}

function shellQuoted(text: string): string {
  return text.replaceAll("'", `'\\''`)
}
