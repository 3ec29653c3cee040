import { spawnSync } from 'node:child_process'
import { statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { makeFolder } from '../../tools/tap/temporary-folders.ts'
import type { Owner } from '../helpers/processes/command.ts'

/** PostgreSQL servers, which run as this user, can write to it as well as root. */
const OPTIONS = 'uid=65534,gid=65534,mode=700'

/** A file system in memory that can be full for a while. Only root can mount it. */
export class SmallDisk {
  readonly folder: string
  readonly isMounted: boolean

  constructor(t: Owner) {
    this.folder = makeFolder(t, tmpdir())
    this.isMounted = this.#mount(OPTIONS)
    t.teardown(() => this.isMounted && spawnSync('umount', ['--lazy', this.folder]))
  }

  /** Makes the disk as small as the files on it. */
  fill(): void {
    // Another process can add to the files meanwhile.
    while (!this.#mount(`remount,size=${this.#used()}`));
  }

  makeRoom(): void {
    this.#mount('remount,size=50%')
  }

  #used(): number {
    const { blocks, bfree, bsize } = statfsSync(this.folder)
    return (blocks - bfree) * bsize
  }

  #mount(options: string): boolean {
    const args = ['-t', 'tmpfs', '-o', options, 'none', this.folder]
    return spawnSync('mount', args).status === 0
  }
}
