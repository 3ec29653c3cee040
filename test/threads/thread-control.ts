/**
 * Loaded into a service with `--import`, which threads inherit. Makes one of its threads block or fail when the test
 * sends a Command.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { BroadcastChannel, isMainThread, threadName } from 'node:worker_threads'

export interface ThreadCommand {
  /** The name of a thread other than the main one. */
  readonly thread: string
  /**
   * `exit` ends the thread, as its own code could not; `block` lasts until `release`. On Linux, the main thread does
   * nothing else until a thread that throws has ended, and so receives its error and its end at once.
   */
  readonly action: 'throw' | 'exit' | 'block' | 'release'
}

/** A command, and memory whose value becomes 1 when a blocked thread is released. */
type Message = ThreadCommand & { readonly released: Int32Array }

const channel = new BroadcastChannel('thread control')

/** The names of the threads of this process; none on systems other than Linux. */
function threadNames(): string[] {
  if (process.platform !== 'linux') return []
  return readdirSync('/proc/self/task').map((id) => {
    try {
      return readFileSync(`/proc/self/task/${id}/comm`, 'utf8').trim()
    } catch {
      return 'just ended'
    }
  })
}

/** Blocks this thread until another one has ended, for at most 10 seconds. */
function blockUntilEnded(thread: string): void {
  const deadline = Date.now() + 10_000
  while (Date.now() < deadline && threadNames().includes(thread));
}

if (isMainThread) {
  channel.unref()
  const released = new Int32Array(new SharedArrayBuffer(4))
  process.on('message', (command: ThreadCommand) => {
    if (command.action === 'release') {
      Atomics.store(released, 0, 1)
      Atomics.notify(released, 0)
    } else {
      channel.postMessage({ ...command, released } satisfies Message)
      if (command.action === 'throw') blockUntilEnded(command.thread)
    }
  })
  process.channel?.unref()
} else {
  channel.unref()
  channel.onmessage = (event: unknown) => {
    const { thread, action, released } = (event as { data: Message }).data
    if (thread !== threadName) return
    if (action === 'throw') throw new Error('a defect')
    if (action === 'exit') process.exit(0)
    Atomics.wait(released, 0, 0)
  }
}
