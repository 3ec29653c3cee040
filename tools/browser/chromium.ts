import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'
import { type Browser, chromium } from 'playwright-core'

/** The first opens a page in a fifth of the processor time, because it has no windows. */
const NAMES = [
  'chromium-headless-shell',
  'chromium',
  'chromium-browser',
  'google-chrome',
  'google-chrome-stable',
  'chrome',
]

/** Keeps the browser from loading anything by itself. */
const ARGUMENTS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]

/** The program that `CHROMIUM` names, else the first of NAMES on the `PATH`; undefined if there is none. */
export function findBrowser(): string | undefined {
  const { CHROMIUM, PATH = '' } = process.env
  const folders = PATH.split(delimiter)
  const candidates = NAMES.flatMap((name) => folders.map((folder) => join(folder, name)))
  return CHROMIUM ?? candidates.find(isProgram)
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}

/** Starts a browser with an empty profile that is not kept. The caller closes it. */
export function launch(executablePath: string, ...args: readonly string[]): Promise<Browser> {
  return chromium.launch({ executablePath, args: [...ARGUMENTS, ...args] })
}
