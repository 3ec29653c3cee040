import type { Run } from '../connection/pooled-client.ts'

const FIND = 'SELECT value FROM plant_store_settings WHERE name = $1'
const ADD = `
  INSERT INTO plant_store_settings (name, value) VALUES ($1, $2)
  ON CONFLICT (name) DO NOTHING RETURNING name`
const REPLACE = `
  UPDATE plant_store_settings SET value = $2 WHERE name = $1 AND value = $3 RETURNING name`

/** See SettingStore.readSetting. */
export async function readSetting(run: Run, name: string): Promise<string | undefined> {
  const [row] = await run<{ value: string }>(FIND, [name])
  return row?.value
}

/** See SettingStore.replaceSetting. */
export async function replaceSetting(
  run: Run,
  name: string,
  expected: string | undefined,
  next: string,
): Promise<boolean> {
  const replaced =
    expected === undefined
      ? await run(ADD, [name, next])
      : await run(REPLACE, [name, next, expected])
  return replaced.length > 0
}
