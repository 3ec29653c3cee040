import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** The `package.json` of a folder. */
export function readManifest(folder: string) {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
}

export function writeJson(file: string, value: unknown): void {
  writeFileSync(file, `${JSON.stringify(value, null, 2)}\n`)
}
