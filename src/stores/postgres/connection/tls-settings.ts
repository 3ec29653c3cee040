import { StoreError } from '../../store-error.ts'

/** libpq's TLS parameters of a connection string, each with its environment variable. */
const VARIABLES = {
  sslmode: 'PGSSLMODE',
  sslrootcert: 'PGSSLROOTCERT',
  sslcert: 'PGSSLCERT',
  sslkey: 'PGSSLKEY',
} as const

const PARAMETERS = Object.keys(VARIABLES)

/** A setting, named after the parameter or variable that set it. */
export interface TlsSetting {
  readonly name: string
  readonly value: string
}

export type TlsSettings = Partial<Record<keyof typeof VARIABLES, TlsSetting>>

/**
 * The TLS settings of a connection string, or else of the environment. An empty value counts as unset.
 *
 * @throws StoreError if there are other TLS parameters, which would be unsafe to ignore
 */
export function readTlsSettings(url: string): TlsSettings {
  const parameters = parseParameters(url)
  const unknown = [...parameters.keys()].find(
    (name) => /^ssl/i.test(name) && !PARAMETERS.includes(name),
  )
  if (unknown !== undefined) {
    const known = PARAMETERS.join(', ')
    throw new StoreError(
      `unknown TLS parameter ${unknown} in the database URL: expected one of ${known}`,
    )
  }
  const entries = Object.entries(VARIABLES).map(([parameter, variable]) => {
    const value = parameters.getAll(parameter).at(-1)
    return [
      parameter,
      value ? { name: parameter, value } : { name: variable, value: process.env[variable] },
    ] as const
  })
  return Object.fromEntries(entries.filter(([, { value }]) => value))
}

/** A connection string without these settings, which would take precedence over the `ssl` option of `pg`. */
export function withoutTlsSettings(url: string): string {
  const parameters = parseParameters(url)
  for (const parameter of PARAMETERS) parameters.delete(parameter)
  const [base = ''] = url.split('?', 1)
  return parameters.size === 0 ? base : `${base}?${parameters}`
}

function parseParameters(url: string): URLSearchParams {
  return new URLSearchParams(url.split('?').slice(1).join('?'))
}
