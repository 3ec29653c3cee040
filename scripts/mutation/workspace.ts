import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'

/** A copy of the project. A mutant is written to its source file, so that every process and thread runs it. */
export class Workspace {
  readonly folder: string
  readonly #originals = new Map<string, string>()

  /**
   * @param project the folder of the project
   * @param folder a folder that does not exist yet
   * @param files the files to copy, relative to the project
   */
  constructor(project: string, folder: string, files: readonly string[]) {
    this.folder = folder
    for (const file of files) {
      mkdirSync(dirname(join(folder, file)), { recursive: true })
      copyFileSync(join(project, file), join(folder, file))
    }
    symlinkSync(join(project, 'node_modules'), join(folder, 'node_modules'))
    this.clean()
  }

  /** The folder for the tests' temporary files. Its name is short, because socket paths are limited to 107 bytes. */
  get temporary(): string {
    return join(this.folder, 'tmp')
  }

  read(file: string): string {
    return readFileSync(join(this.folder, file), 'utf8')
  }

  /** Changes a source file until `restore`. */
  change(file: string, text: string): void {
    if (!this.#originals.has(file)) this.#originals.set(file, this.read(file))
    this.write(file, text)
  }

  /** Undoes all changes to a file. The project itself may have been edited in the meantime, so it is not read again. */
  restore(file: string): void {
    const original = this.#originals.get(file)
    if (original !== undefined) this.write(file, original)
  }

  write(file: string, text: string): void {
    writeFileSync(join(this.folder, file), text)
  }

  /** Removes what a test has left behind. */
  clean(): void {
    for (const folder of [this.temporary, join(this.folder, '.tap')]) {
      rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
    }
    mkdirSync(this.temporary)
    // PostgreSQL runs as another user.
    chmodSync(this.temporary, 0o1777)
  }
}

/** Lists the files of the project that Git does not ignore, committed or not. */
export function projectFiles(project: string): string[] {
  const list = execFileSync('git', ['ls-files', '-z', '-co', '--exclude-standard'], {
    cwd: project,
    encoding: 'utf8',
  })
  return list.split('\0').filter((file) => file !== '' && existsSync(join(project, file)))
}
