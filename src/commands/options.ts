import { InvalidArgumentError, Option } from 'commander'
import { TOKEN_LENGTH_MIN, TOKEN_VARIABLE } from '../config/config.ts'
import { replaceInvalid } from '../config/setting-values.ts'
import {
  type Setting,
  type SettingName,
  settingNames,
  settings,
  toFlag,
  toVariable,
} from '../config/settings.ts'

/** The settings as commander's options. */
export const settingOptions: readonly Option[] = settingNames.map(settingOption)

/** Shared by the commands that open the database. */
export const databaseOption = settingOption('database')

/** Follows the list of settings in `--help`. */
export const settingsHelp = `
Durations are written as 500ms, 10s or 2m. Each option can also be set by the environment variable
shown with it; a flag takes precedence. ${TOKEN_VARIABLE} (at least ${TOKEN_LENGTH_MIN} characters) is an additional
access token with all scopes. It has no flag, because other users can read a command line.`

function settingOption(name: SettingName): Option {
  const setting: Setting = settings[name]
  const option = new Option(`${toFlag(name)} ${setting.argument}`, setting.description)
  option.env(toVariable(name)).argParser(argument(setting.read))
  if (setting.default !== undefined) option.default(setting.read(setting.default), setting.default)
  if (setting.bareFlag !== undefined) option.preset(setting.bareFlag)
  return option
}

/** Adapts a setting's reader to commander's argument parser, which requires commander's own error class. */
export function argument<Value>(read: (value: string) => Value): (value: string) => Value {
  return (value) =>
    replaceInvalid(
      () => read(value),
      ({ expected }) => new InvalidArgumentError(`Expected ${expected}.`),
    )
}
