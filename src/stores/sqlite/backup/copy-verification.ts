/**
 * Verifies a copy of a database: `node copy-verification.ts FILE`. A process of its own, because `integrity_check` is a
 * single call of SQLite, which can take minutes and can only be interrupted by ending the process.
 */

import { statSync } from 'node:fs'
import Sqlite from 'better-sqlite3'
import { known } from '../../../../core/known.ts'
import type { BackupSummary } from '../../shared/engine.ts'
import { hashFile } from '../check/checksum.ts'
import { countRows, findFault, findIntegrityFaults } from '../check/sqlite-check.ts'
import { explain } from '../file/sqlite-errors.ts'

/** Printed as JSON. */
export type Verification = BackupSummary | { readonly fault: string }

function verify(copy: string): Verification {
  try {
    const db = new Sqlite(copy, { fileMustExist: true })
    // The copy of a database in WAL mode is in WAL mode too, and could not be opened in a read-only folder.
    db.pragma('journal_mode = DELETE')
    // First, because expressions of an index that is not ours can take any time.
    const fault = findFault(db)
    if (fault !== undefined) return { fault }
    const [damage] = findIntegrityFaults(db)
    if (damage !== undefined) {
      return { fault: `the copy is damaged, and the database may be too: ${damage}` }
    }
    const plants = countRows(db, 'plants')
    db.close()
    return { plants, bytes: statSync(copy).size, sha256: hashFile(copy) }
  } catch (error) {
    return { fault: explain(error) }
  }
}

process.stdout.write(JSON.stringify(verify(known(process.argv[2]))))
