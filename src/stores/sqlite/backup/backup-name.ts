/** Names of the backups in a folder. They contain the UTC time at which the backup began, so they sort by age. */

const NAME = /^plants-(\d{4}-\d\d-\d\d)T(\d\d)-(\d\d)-(\d\d)Z\.db$/

/** The folders that `backUpDatabase` makes for unfinished copies. */
const PARTIAL_SUFFIX = /\.partial-\w{6}$/

export function backupName(time: Date): string {
  return `plants-${time.toISOString().slice(0, 19).replaceAll(':', '-')}Z.db`
}

/** The time in the name of a backup; undefined for every other name. */
export function backupTime(name: string): Date | undefined {
  const time = new Date(name.replace(NAME, '$1T$2:$3:$4Z'))
  // Refuses days such as February 30, too.
  return !Number.isNaN(time.getTime()) && backupName(time) === name ? time : undefined
}

/** Whether a folder with this name contains the unfinished copy of a backup. */
export function isPartialName(name: string): boolean {
  return PARTIAL_SUFFIX.test(name) && backupTime(name.replace(PARTIAL_SUFFIX, '')) !== undefined
}
