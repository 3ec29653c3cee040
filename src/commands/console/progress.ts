import { MultiBar } from 'cli-progress'
import { type Clock, systemClock } from '../../../core/time/clock.ts'

export interface ProgressDisplay {
  /** Reports how much is done in total. Cheap enough to call for every step. */
  update(done: number): void
  /** Prints a line, such as a warning, that the bar does not overwrite. */
  printLine(line: string): void
  /** Must be called, even after an error: a bar keeps the process alive until then. */
  end(): void
}

export interface ProgressOptions {
  /** The task, such as `backup`. */
  readonly what: string
  /** The unit of `done` and `total`, such as `pages`. */
  readonly unit: string
  /** Undefined if unknown. */
  readonly total?: number
  readonly stream?: NodeJS.WritableStream & { readonly isTTY?: boolean }
  readonly clock?: Pick<Clock, 'monotonic'>
}

/** The library estimates the remaining time from the last hundred updates: here, ten seconds. */
const BAR_INTERVAL_MS = 100

const LINE_INTERVAL_MS_MIN = 5000

/** Lines become less frequent over time, so that a task of several hours does not flood the log. */
const LINE_INTERVAL_GROWTH = 0.1

/**
 * Shows progress on standard error: a bar on a terminal, otherwise a line every few seconds, starting after five.
 *
 * The lines are our own, because the library's `noTTYOutput` prints one for every task, however short, delays warnings
 * until the next line, and leaves blank lines between them.
 */
export function startProgress(options: ProgressOptions): ProgressDisplay {
  const { stream = process.stderr, clock = systemClock } = options
  const canMoveCursor = stream.isTTY === true && process.env.TERM !== 'dumb'
  const renderer = canMoveCursor ? bar(options, stream) : lines(options, stream)
  const start = clock.monotonic()
  let next = start + renderer.intervalMs(0)
  let latest = 0
  return {
    update(done) {
      latest = done
      const time = clock.monotonic()
      if (time < next) return
      next = time + renderer.intervalMs(time - start)
      renderer.show(done)
    },
    printLine: (line) => renderer.print(`${line}\n`),
    end: () => renderer.end(latest),
  }
}

interface Renderer {
  /** The time until the next `show`, given the time since the start. */
  intervalMs(elapsedMs: number): number
  show(done: number): void
  print(text: string): void
  end(done: number): void
}

function bar({ what, unit, total }: ProgressOptions, stream: NodeJS.WritableStream): Renderer {
  const withTotal = `{bar} {percentage}%  {value} of {total} ${unit}  {eta_formatted} left`
  const withoutTotal = `{value} ${unit}  {duration_formatted}`
  const bars = new MultiBar({
    stream,
    format: `${what}  ${total === undefined ? withoutTotal : withTotal}`,
    formatValue: (value) => value.toLocaleString('en'),
    formatTime,
    barsize: 25,
    etaBuffer: 100,
    // Otherwise the library disables line wrapping, and a killed process would leave it disabled.
    linewrap: true,
  })
  const one = bars.create(total ?? 0, 0)
  return {
    intervalMs: () => BAR_INTERVAL_MS,
    show: (done) => one.update(done),
    print: (text) => bars.log(text),
    end(done) {
      one.update(done)
      // `stop` discards printed lines that are not drawn yet.
      bars.update()
      bars.stop()
    },
  }
}

function lines({ what, unit, total }: ProgressOptions, stream: NodeJS.WritableStream): Renderer {
  const describe = (done: number) => {
    if (!total) return `${done.toLocaleString('en')} ${unit}`
    const percentage = Math.floor((done / total) * 100)
    return `${done.toLocaleString('en')} of ${total.toLocaleString('en')} ${unit} (${percentage}%)`
  }
  return {
    intervalMs: (elapsedMs) => Math.max(LINE_INTERVAL_MS_MIN, elapsedMs * LINE_INTERVAL_GROWTH),
    show: (done) => stream.write(`${what}: ${describe(done)}\n`),
    print: (text) => stream.write(text),
    // The command itself prints the result.
    end() {},
  }
}

/** The library passes a non-integer while it cannot estimate the remaining time. */
function formatTime(seconds: number): string {
  if (!Number.isInteger(seconds)) return '?'
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`
}
