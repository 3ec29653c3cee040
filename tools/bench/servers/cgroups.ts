import { mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { messageOf } from '../../../src/system/user-errors.ts'

/** The share of a core that a limited thread or process can use, if the machine has enough cores. */
export const CORE_SHARE = 0.1

/** The kernel's default of 100 ms would suspend a thread for 90 ms at a time. */
const PERIOD_US = 20_000
/** The kernel accepts no less. */
const QUOTA_US_MIN = 1000

/** Part of the name of each group that this process creates. */
const NAME = `plant-store-bench-${process.pid}`

/** What to limit: threads of a process, each on its own, or all its present and future threads together. */
export interface Limited {
  readonly pid: number
  readonly threads?: readonly number[]
}

/**
 * Limits a process or its threads to a share of a core with control groups, until disposal. Needs Linux and root.
 *
 * @throws Error if this system cannot do that
 */
export function limitTo(share: number, { pid, threads }: Limited): Disposable {
  const mounts = readFileSync('/proc/mounts', 'utf8').split('\n').map(parseMount)
  const v1 = mounts.find(({ type, options }) => type === 'cgroup' && options.includes('cpu'))
  if (v1 !== undefined) return limitByV1(v1.folder, toBandwidth(share), pid, threads)
  const v2 = mounts.find(({ type }) => type === 'cgroup2')
  if (v2 !== undefined) return limitByV2(v2.folder, toBandwidth(share), pid, threads)
  throw new Error('no control groups are mounted')
}

/** Returns why `limitTo` does not work here. Undefined if it does. */
export function whyUnlimited(): string | undefined {
  try {
    limitTo(1, { pid: process.pid, threads: [process.pid] })[Symbol.dispose]()
    return undefined
  } catch (error) {
    return messageOf(error)
  }
}

interface Bandwidth {
  readonly quota: number
  readonly period: number
}

function toBandwidth(share: number): Bandwidth {
  const quota = Math.max(QUOTA_US_MIN, Math.round(PERIOD_US * share))
  return { quota, period: Math.round(quota / share) }
}

function limitByV1(
  mount: string,
  { quota, period }: Bandwidth,
  pid: number,
  threads: readonly number[] = [],
): Disposable {
  const parent = join(mount, findGroup(pid, 'cpu'))
  const [members, file] =
    threads.length > 0 ? ([threads, 'tasks'] as const) : ([[pid], 'cgroup.procs'] as const)
  return build((undo) => {
    for (const member of members) {
      const group = createGroup(join(parent, `${NAME}-${member}`), undo)
      undo(() => moveAll(group, parent, file))
      write(group, 'cpu.cfs_period_us', period)
      write(group, 'cpu.cfs_quota_us', quota)
      write(group, file, member)
    }
  })
}

/**
 * Version 2 limits single threads only in threaded groups, whose parent must contain their process. That parent is
 * below the root, because only the root can have both processes and groups with limits.
 */
function limitByV2(
  mount: string,
  { quota, period }: Bandwidth,
  pid: number,
  threads: readonly number[] = [],
): Disposable {
  const original = join(mount, findGroup(pid, ''))
  const limit = (group: string) => write(group, 'cpu.max', `${quota} ${period}`)
  return build((undo) => {
    write(mount, 'cgroup.subtree_control', '+cpu')
    const parent = createGroup(join(mount, `${NAME}-${pid}`), undo)
    const groups = threads.map((thread) => {
      const group = createGroup(join(parent, String(thread)), undo)
      write(group, 'cgroup.type', 'threaded')
      return group
    })
    undo(() => moveAll(parent, original, 'cgroup.procs'))
    write(parent, 'cgroup.procs', pid)
    if (groups.length === 0) return limit(parent)
    write(parent, 'cgroup.subtree_control', '+cpu')
    for (const [index, group] of groups.entries()) {
      limit(group)
      write(group, 'cgroup.threads', threads[index] ?? 0)
    }
  })
}

/** The limits to remove when this process exits. */
const limits = new Set<Disposable>()
process.once('exit', () => {
  for (const limit of limits) limit[Symbol.dispose]()
})

/**
 * Runs steps that can register how to undo them. They are undone in reverse if one fails, on disposal, or when this
 * process exits.
 */
function build(steps: (undo: (step: () => void) => void) => void): Disposable {
  using undone = new DisposableStack()
  steps((step) => undone.defer(step))
  const limit = undone.move()
  limits.add(limit)
  limit.defer(() => limits.delete(limit))
  return limit
}

function createGroup(folder: string, undo: (step: () => void) => void): string {
  mkdirSync(folder)
  undo(() => rmdirSync(folder))
  return folder
}

/** Moves processes or threads to another group. Those that have ended leave by themselves. */
function moveAll(from: string, to: string, file: 'tasks' | 'cgroup.procs'): void {
  for (const id of readFileSync(join(from, file), 'utf8').trim().split('\n')) {
    try {
      write(to, file, id)
    } catch {}
  }
}

function write(group: string, file: string, value: string | number): void {
  writeFileSync(join(group, file), String(value))
}

/** The group of a process, relative to the mount of a controller; see cgroups(7). */
function findGroup(pid: number, controller: string): string {
  const groups = readFileSync(`/proc/${pid}/cgroup`, 'utf8').trim().split('\n')
  for (const group of groups) {
    const [, controllers = '', ...path] = group.split(':')
    if (controllers.split(',').includes(controller)) return path.join(':')
  }
  throw new Error('the process is in no control group')
}

function parseMount(line: string): { folder: string; type: string; options: readonly string[] } {
  const [, folder = '', type = '', options = ''] = line.split(' ')
  return { folder, type, options: options.split(',') }
}
