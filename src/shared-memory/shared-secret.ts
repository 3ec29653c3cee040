import { randomBytes } from 'node:crypto'

/** Random bytes that threads can share. */
export class SharedSecret {
  readonly memory: SharedArrayBuffer

  constructor(length: number, memory?: SharedArrayBuffer) {
    this.memory = memory ?? new SharedArrayBuffer(length)
    if (memory === undefined) randomBytes(length).copy(new Uint8Array(this.memory))
  }

  /** A copy of the bytes. */
  get bytes(): Buffer {
    return Buffer.from(new Uint8Array(this.memory))
  }
}
