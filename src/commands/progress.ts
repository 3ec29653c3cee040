import { MultiBar } from 'cli-progress'

export interface Progress {
  /** How much is done of the whole, not since the last call. As often as one likes. */
  update(done: number): void
  /** Prints a line that stays, such as a warning, where the bar does not overwrite it. */
  say(line: string): void
  /** Must be called, after a failure too: until then a bar keeps the process alive. */
  end(): void
}

export interface ProgressOptions {
  /** What is being done, such as `backup`. */
  readonly what: string
  /** What is counted, in the plural, such as `pages`. */
  readonly unit: string
  /** How many there are, where that is known. */
  readonly total?: number
  readonly stream?: NodeJS.WritableStream & { readonly isTTY?: boolean }
  /** Milliseconds of a clock that never goes back. */
  readonly now?: () => number
}

/** How often a bar is told, in milliseconds: its forecast is made from the last hundred times. */
const BAR_PACE = 100

/** Between two plain lines are at least so many milliseconds … */
const LINE_PACE = 5000

/** … and this part of the time gone by, so that a long work does not fill a log. */
const LINE_PART = 0.1

/**
 * Shows on standard error how far a work is: a bar on a terminal, elsewhere a plain line now and then,
 * the first after five seconds. Standard output is left to what the command is for.
 */
export function startProgress(options: ProgressOptions): Progress {
  const { stream = process.stderr, now = () => performance.now() } = options
  const movable = stream.isTTY === true && process.env.TERM !== 'dumb'
  const form = movable ? bar(options, stream) : lines(options, stream)
  const start = now()
  let next = start + form.pace(0)
  let latest = 0
  return {
    update(done) {
      latest = done
      const time = now()
      if (time < next) return
      next = time + form.pace(time - start)
      form.show(done)
    },
    say: (line) => form.say(`${line}\n`),
    end: () => form.end(latest),
  }
}

interface Form {
  /** How long to wait for the next time to show it, in milliseconds, so long after the start. */
  pace(sinceStart: number): number
  show(done: number): void
  say(line: string): void
  end(done: number): void
}

type Stream = NodeJS.WritableStream

function bar({ what, unit, total }: ProgressOptions, stream: Stream): Form {
  const known = `{bar} {percentage}%  {value} of {total} ${unit}  {eta_formatted} left`
  const unknown = `{value} ${unit}  {duration_formatted}`
  const bars = new MultiBar({
    stream,
    format: `${what}  ${total === undefined ? unknown : known}`,
    formatValue: (value) => value.toLocaleString('en'),
    formatTime: minutes,
    barsize: 25,
    etaBuffer: 100,
    // Or a process that is killed would leave a terminal that cuts its lines.
    linewrap: true,
  })
  const one = bars.create(total ?? 0, 0)
  return {
    pace: () => BAR_PACE,
    show: (done) => one.update(done),
    say: (line) => bars.log(line),
    end(done) {
      one.update(done)
      // Or what was said last would be lost.
      bars.update()
      bars.stop()
    },
  }
}

function lines({ what, unit, total }: ProgressOptions, stream: Stream): Form {
  const countOf = (done: number) => {
    if (!total) return `${done.toLocaleString('en')} ${unit}`
    const percentage = Math.floor((done / total) * 100)
    return `${done.toLocaleString('en')} of ${total.toLocaleString('en')} ${unit} (${percentage}%)`
  }
  return {
    pace: (sinceStart) => Math.max(LINE_PACE, sinceStart * LINE_PART),
    show: (done) => stream.write(`${what}: ${countOf(done)}\n`),
    say: (line) => stream.write(line),
    // What has been done is the command's to say.
    end() {},
  }
}

/** The library has no number while it cannot tell the time that is left. */
function minutes(seconds: number): string {
  if (!Number.isInteger(seconds)) return '?'
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`
}
