import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { OwnField } from '../../../core/members/own-fields.ts'
import { inMemory, makeFolder } from '../../../tools/tap/temporary-folders.ts'
import type { Owner } from '../processes/command.ts'

/** Writes an OpenAPI Overlay that declares some fields, for the setting `contract`. Returns its path. */
export function writeOverlay(t: Owner, fields: readonly OwnField[]): string {
  const properties = Object.fromEntries(fields.map(({ name, schema }) => [name, schema]))
  const overlay = {
    overlay: '1.0.0',
    info: { title: 'Own fields', version: '1' },
    actions: [{ target: '$.components.schemas.Plant', update: { properties } }],
  }
  const file = join(makeFolder(t, inMemory()), 'overlay.json')
  writeFileSync(file, JSON.stringify(overlay))
  return file
}
