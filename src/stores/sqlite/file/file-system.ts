import { statfsSync } from 'node:fs'

/** Linux's types (statfs(2)) of file systems whose files are on another machine or served by a program. */
const REMOTE: Readonly<Record<number, string>> = {
  26985: 'NFS',
  20859: 'SMB',
  4266872130: 'SMB',
  4283649346: 'SMB',
  1702057286: 'FUSE',
  16914839: '9P',
  12805120: 'Ceph',
  1397113167: 'AFS',
  1799439955: 'AFS',
  198183888: 'Lustre',
  1196443219: 'GPFS',
  1952539503: 'OCFS2',
  18225520: 'GFS2',
  2020557398: 'a shared folder of VirtualBox',
}

/**
 * Warns about a file system whose locks, shared memory and syncs SQLite may not be able to rely on. Other systems than
 * Linux do not have these types.
 */
export function adviseOnFileSystem(
  file: string,
  statfs: (file: string) => { readonly type: number } = statfsSync,
  platform: NodeJS.Platform = process.platform,
): readonly string[] {
  if (platform !== 'linux') return []
  const name = REMOTE[statfs(file).type]
  if (name === undefined) return []
  return [
    `the database ${file} is on ${name}, whose locks and syncs SQLite may not be able to rely on: keep it on a local ` +
      'disk, and never open it from two machines',
  ]
}
