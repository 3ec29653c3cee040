import { resolve } from 'node:path'
import { scopes } from '../../../core/contract/scopes.ts'
import { restrictedError } from '../../../service/restriction.ts'
import type { Config } from '../../config/config.ts'
import { DOCS_PATH } from '../../http/docs/docs.ts'
import { isPageBuilt } from '../../http/page.ts'
import { NOT_BUILT } from '../../http/responses/built-files.ts'
import { type Certificate, covers } from '../../http/sockets/certificate.ts'
import type { Access } from '../../start/first-token.ts'
import type { RunningService } from '../../start/start.ts'
import { describeDatabase } from '../../stores/engines.ts'

/** A name without a wildcard, in the notation of X509Certificate.subjectAltName. */
const DNS_NAME = /(?:^|, )DNS:([\w.-]+)(?:,|$)/

const CREATE_COMMAND = `plant-store token create --name mine --scope ${scopes.join()}`

const PLANT = '{"id": 4, "name": "Abies alba Mill.", "tag": "Tree"}'

/** The announced properties of a running service. */
export type Announced = Pick<RunningService, 'url' | 'access'> &
  Partial<Pick<RunningService, 'adminUrl' | 'certificate' | 'acknowledgement' | 'restriction'>>

/** The message for the user who started the service, with a curl command that works as pasted. */
export function greeting(
  config: Config,
  { url, adminUrl, access, certificate, acknowledgement, restriction }: Announced,
  hasPage = isPageBuilt(),
): string {
  const database = describeDatabase(config.database)
  const { location, bearer } = describeAccess(access, database)
  const page = config.page ? `\n  page      ${hasPage ? `${url}/` : NOT_BUILT}` : ''
  const docs = config.docs ? `\n  docs      ${docsUrl(url)}` : ''
  const admin = adminUrl === undefined ? '' : `\n  metrics   ${adminUrl}/metrics`
  const refusal =
    restriction && `are refused: ${restrictedError(restriction).detail} ${option(database)}`
  const durability = refusal ?? acknowledgement
  const changes = durability === undefined ? '' : `\n  changes   ${durability}`
  const request = `${curl(`${url}/plants`, certificate)} -H "Authorization: Bearer ${bearer}"`
  const example =
    restriction === undefined
      ? `Create a plant:\n  ${request} -H 'Content-Type: application/json' -d '${PLANT}'`
      : `Read the plants:\n  ${request}`
  return `Plant Store is listening on ${url}${page}${docs}${admin}
  database  ${database}${changes}
  token     ${location}

${example}
`
}

/**
 * The same information as a line of JSON, for programs. Includes the token only if it is not in a file or the
 * environment.
 */
export function readyLine(
  config: Config,
  { url, adminUrl, access }: Announced,
  hasPage = isPageBuilt(),
): string {
  const page = config.page && hasPage ? { page: `${url}/` } : {}
  const docs = config.docs ? { docs: docsUrl(url) } : {}
  const token = 'token' in access ? { token: access.token } : {}
  return `${JSON.stringify({ url, adminUrl, ...page, ...docs, ...token })}\n`
}

/** A curl command that verifies the certificate, even if its name differs from the URL's. */
function curl(url: string, certificate?: Certificate): string {
  // Quoted, because zsh would expand the brackets of an IPv6 address.
  if (certificate === undefined) return `curl '${url}'`
  const { x509, files } = certificate
  const { hostname, host, port, pathname } = new URL(url)
  const name = DNS_NAME.exec(`${x509.subjectAltName}`)?.[1]
  const command = ['curl']
  if (name === undefined || covers(x509, hostname.replace(/[[\]]/g, ''))) command.push(`'${url}'`)
  else command.push(`'https://${name}:${port}${pathname}'`, '--connect-to', `'::${host}'`)
  const isSelfSigned = x509.checkIssued(x509)
  if (isSelfSigned) command.push('--cacert', `'${escapeForShell(resolve(files.certificate))}'`)
  return command.join(' ')
}

function docsUrl(url: string): string {
  return url + DOCS_PATH
}

/** @param database as `describeDatabase` names it */
function describeAccess(access: Access, database: string): { location: string; bearer: string } {
  if ('token' in access) return { location: access.token, bearer: access.token }
  if ('variable' in access) {
    return { location: `in ${access.variable}`, bearer: `$${access.variable}` }
  }
  if ('file' in access) {
    return { location: access.file, bearer: `$(cat '${escapeForShell(access.file)}')` }
  }
  const existing = access.hasTokens ? 'use an existing one or ' : ''
  const location = `${existing}create one with ${CREATE_COMMAND} ${option(database)}`
  return { location, bearer: '<token>' }
}

function option(database: string): string {
  return `--database '${escapeForShell(database)}'`
}

/** Escapes text for use between single quotes in a POSIX shell. */
function escapeForShell(text: string): string {
  return text.replaceAll("'", `'\\''`)
}
