import { StoreError } from '../store-error.ts'

/** The parameters of a connection string that concern TLS, each with its variable, as libpq has them. */
const VARIABLES = {
  sslmode: 'PGSSLMODE',
  sslrootcert: 'PGSSLROOTCERT',
  sslcert: 'PGSSLCERT',
  sslkey: 'PGSSLKEY',
} as const

const PARAMETERS = Object.keys(VARIABLES)

/** A setting, by the name of its parameter or its variable, whichever it was given by. */
export interface TlsSetting {
  readonly name: string
  readonly value: string
}

export type TlsSettings = Partial<Record<keyof typeof VARIABLES, TlsSetting>>

/**
 * The settings of a connection string, else those of the environment; an empty one is none.
 *
 * @throws StoreError if there are others about TLS, which it would be unsafe to ignore
 */
export function tlsSettingsOf(url: string): TlsSettings {
  const parameters = parametersOf(url)
  const unknown = [...parameters.keys()].find(
    (name) => /^ssl/i.test(name) && !PARAMETERS.includes(name),
  )
  if (unknown !== undefined) {
    const known = PARAMETERS.join(', ')
    throw new StoreError(`the database has a parameter ${unknown}, which is not one of ${known}`)
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

/** A connection string without these settings; `pg` would prefer them to its option `ssl`. */
export function withoutTlsSettings(url: string): string {
  const parameters = parametersOf(url)
  for (const parameter of PARAMETERS) parameters.delete(parameter)
  const [base = ''] = url.split('?', 1)
  return parameters.size === 0 ? base : `${base}?${parameters}`
}

function parametersOf(url: string): URLSearchParams {
  return new URLSearchParams(url.split('?').slice(1).join('?'))
}
