import { extname } from 'node:path'
import { Worker, type WorkerOptions } from 'node:worker_threads'

/**
 * Runs a module of this folder in a thread of its own.
 *
 * @param name of its file, which in the published package is JavaScript as this one is
 */
export function startThread(name: string, options: WorkerOptions): Worker {
  return new Worker(new URL(`./${name}${extname(import.meta.url)}`, import.meta.url), options)
}
