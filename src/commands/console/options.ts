import { Argument, InvalidArgumentError, Option } from 'commander'
import { TOKEN_LENGTH_MIN, TOKEN_VARIABLE } from '../../config/config.ts'
import { replaceInvalid } from '../../config/setting-values.ts'
import {
  type Setting,
  type SettingName,
  settingNames,
  settings,
  toFlag,
  toVariable,
} from '../../config/settings.ts'

/** The settings as commander's options. */
export const settingOptions: readonly Option[] = settingNames.map(settingOption)

/** Shared by the commands that open the database. */
export const databaseOption = settingOption('database')

/** The own fields of a mirror. */
export const contractOption = settingOption('contract')

/** Shared by the commands that retain changes while they run. */
export const retentionOptions = (['keepChanges', 'keepChangesBytes'] as const).map(settingOption)

/** Shared by the commands that copy from another database. */
export const fromArgument = new Argument(
  '<from>',
  'the database to copy from, like --database; a password belongs in ~/.pgpass',
)

/** Shared by the commands that can prepare a database for the service. */
export const createOption = new Option('--create', 'create the database if it does not exist')

/** Shared by the commands that check the URL of a webhook. */
export const allowPrivateOption = settingOption('allowPrivateWebhooks')

/** Follows the list of settings in `--help`. */
export const settingsHelp = `
Durations are written as 500ms, 10s, 2m or 1d; rates as 100/s, 1000/m or 5000/h. Each option can also be set
with the environment variable shown; the flag takes precedence. ${TOKEN_VARIABLE} sets an additional
access token with all scopes (at least ${TOKEN_LENGTH_MIN} characters). It has no flag, because other users can read the
command line.`

function settingOption(name: SettingName): Option {
  const setting: Setting = settings[name]
  const option = new Option(`${toFlag(name)} ${setting.argument}`, setting.description)
  option.env(toVariable(name)).argParser(argument(setting.read))
  if (setting.default !== undefined) option.default(setting.read(setting.default), setting.default)
  if (setting.bareFlag !== undefined) option.preset(setting.bareFlag)
  return option
}

/** Parses the name of a token or webhook. */
export function parseName(value: string): string {
  if (/^[\w.-]{1,64}$/.test(value)) return value
  throw new InvalidArgumentError('Expected 1 to 64 characters of A-Z a-z 0-9 . _ -')
}

/** Adapts a setting's reader to commander's argument parser, which requires commander's own error class. */
export function argument<Value>(read: (value: string) => Value): (value: string) => Value {
  return (value) =>
    replaceInvalid(
      () => read(value),
      ({ expected }) => new InvalidArgumentError(`Expected ${expected}.`),
    )
}
