/** Settings of a database that every process that shares it must agree on. */
export interface SettingStore {
  /** Resolves to the value of a setting, or undefined if it has none. */
  readSetting(name: string): Promise<string | undefined>

  /**
   * Replaces the value of a setting if it still is the expected one, as durably as a change to a plant. Resolves to
   * whether it was. Works while the database is restricted.
   *
   * @throws StoreUnavailable
   */
  replaceSetting(name: string, expected: string | undefined, next: string): Promise<boolean>
}
