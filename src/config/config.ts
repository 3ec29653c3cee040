import { inspect } from 'node:util'
import { UserError } from '../system/user-errors.ts'
import { replaceInvalid } from './setting-values.ts'
import {
  type SettingName,
  settingNames,
  settings,
  toVariable,
  VARIABLE_PREFIX,
} from './settings.ts'

type Settings = typeof settings

type Value<Name extends SettingName> = ReturnType<Settings[Name]['read']>

type NameWithDefault = {
  [Name in SettingName]: Settings[Name] extends { readonly default: string } ? Name : never
}[SettingName]

type RequiredSettings = { readonly [Name in NameWithDefault]: Value<Name> }

type OptionalSettings = { readonly [Name in Exclude<SettingName, NameWithDefault>]?: Value<Name> }

/** The values of the settings, read once when the process starts. Times are in milliseconds, sizes in bytes. */
export interface Config extends RequiredSettings, OptionalSettings {
  /** A token that is valid in addition to those in the store. No flag: other users can read the command line. */
  readonly token?: string
}

/** A setting or its combination with others is invalid. */
export class ConfigError extends UserError {}

export const TOKEN_VARIABLE = `${VARIABLE_PREFIX}TOKEN`
export const TOKEN_LENGTH_MIN = 16

/** The token of another service, for the commands that read from it. The service itself ignores it. */
export const SOURCE_TOKEN_VARIABLE = `${VARIABLE_PREFIX}MIRROR_TOKEN`

/** The names of the settings that an embedding program can pass. `readyJson` only affects what the command prints. */
const embeddedNames = settingNames.filter((name) => name !== 'readyJson')

/** The default of every setting that has one. */
export function defaultConfig(): Config {
  const config: { [Name in SettingName]?: unknown } = {}
  for (const name of settingNames) {
    const setting = settings[name]
    if ('default' in setting) config[name] = setting.read(setting.default)
  }
  // TypeScript does not track that each value comes from its own reader.
  return config as Config
}

/** The options of the store. */
export function storeOptions({ keepChanges: age, keepChangesBytes: bytes, ...config }: Config) {
  return { ...config, retention: { age, bytes }, isMeasured: config.adminPort !== undefined }
}

/**
 * Adds the defaults to the options of an embedding program. Undefined options count as missing.
 *
 * @throws ConfigError for the first option that is invalid or unknown
 */
export function embeddedConfig(options: { readonly [name: string]: unknown }): Config {
  const config: { [name: string]: unknown } = {}
  for (const [name, value] of Object.entries(options)) {
    if (value !== undefined) config[name] = readOption(name, value)
  }
  return { ...defaultConfig(), ...config }
}

function readOption(name: string, value: unknown): unknown {
  if (name === 'token') return readToken(name, value)
  const setting = embeddedNames.find((each) => each === name)
  if (setting === undefined) {
    throw new ConfigError(
      `unknown option ${name}: expected one of ${[...embeddedNames, 'token'].join(', ')}`,
    )
  }
  return replaceInvalid(
    () => settings[setting].read(value),
    ({ message }) => new ConfigError(`invalid ${name} ${inspect(value)}: ${message}`),
  )
}

/**
 * Reads the token from the environment. Commander reads the other variables.
 *
 * @throws ConfigError if the token is invalid, or if an unknown variable has our prefix: it is probably misspelled
 */
export function tokenFromEnvironment(environment: NodeJS.ProcessEnv): Pick<Config, 'token'> {
  const expected = [TOKEN_VARIABLE, ...settingNames.map(toVariable)]
  for (const name of Object.keys(environment)) {
    if (name === SOURCE_TOKEN_VARIABLE) continue
    if (name.startsWith(VARIABLE_PREFIX) && !expected.includes(name)) {
      throw new ConfigError(
        `unknown environment variable ${name}: expected one of ${expected.join(', ')}`,
      )
    }
  }
  const token = environment[TOKEN_VARIABLE]
  return token === undefined ? {} : { token: readToken(TOKEN_VARIABLE, token) }
}

/** @throws ConfigError that does not quote the token, because even an invalid one can be a secret */
export function readToken(name: string, token: unknown): string {
  // The syntax of a bearer token (RFC 6750 §2.1).
  const valid = typeof token === 'string' && /^[\w.~+/-]+=*$/.test(token)
  if (valid && token.length >= TOKEN_LENGTH_MIN) return token
  throw new ConfigError(
    `invalid ${name}: expected at least ${TOKEN_LENGTH_MIN} characters of A-Z a-z 0-9 - . _ ~ + /, optionally followed by =`,
  )
}
