import t from 'tap'
import { StoreUnavailable } from '../../service/plant-store.ts'
import type { SavedProgress } from '../../service/webhook-store.ts'
import { ProgressSaver, type ProgressSaverOptions } from '../../src/webhooks/progress-saver.ts'

/** A saver whose saves end when the test says so. */
function newSaver(options: Partial<ProgressSaverOptions> = {}) {
  const saves: (PromiseWithResolvers<string[]> & { progress: readonly SavedProgress[] })[] = []
  let begun = Promise.withResolvers<void>()
  const lost: string[] = []
  const errors: unknown[] = []
  const saver = new ProgressSaver({
    save: (progress) => {
      const save = { ...Promise.withResolvers<string[]>(), progress }
      saves.push(save)
      begun.resolve()
      return save.promise
    },
    onLost: (name) => lost.push(name),
    onError: (error) => errors.push(error),
    ...options,
  })
  return {
    saver,
    lost,
    errors,
    saves,
    next: async () => {
      await begun.promise
      begun = Promise.withResolvers()
      return saves.at(-1) as (typeof saves)[number]
    },
  }
}

t.test('progress that follows during a save is saved by the next one', async (t) => {
  const { saver, lost, next } = newSaver()
  saver.set('a', { attempts: 1 }, false)
  saver.set('a', { attempts: 2 }, false)
  saver.set('b', { attempts: 3 }, false)
  const first = await next()
  t.same(first.progress, [
    { name: 'a', progress: { attempts: 2 } },
    { name: 'b', progress: { attempts: 3 } },
  ])
  saver.set('a', { attempts: 4 }, false)
  first.resolve(['a'])
  const second = await next()
  t.same(second.progress, [{ name: 'a', progress: { attempts: 4 } }])
  t.same(lost, ['b'])
  second.resolve(['a'])
  t.equal(await saver.close(), true)
})

t.test(
  'a failed save is repeated with the newest progress, soon even if that is a skip',
  async (t) => {
    const { saver, errors, next } = newSaver()
    saver.set('a', { attempts: 1 }, false)
    saver.set('b', { attempts: 2 }, false)
    saver.set('forgotten', { attempts: 0 }, false)
    const first = await next()
    saver.set('a', { attempts: 3 }, true)
    saver.forget('forgotten')
    first.reject(new StoreUnavailable('failing', 'SQLITE_IOERR'))
    const second = await next()
    t.same(
      second.progress.toSorted((one, other) => (one.name < other.name ? -1 : 1)),
      [
        { name: 'a', progress: { attempts: 3 } },
        { name: 'b', progress: { attempts: 2 } },
      ],
    )
    t.same(errors, [])
    second.reject(new TypeError('bug'))
    const closed = saver.close()
    ;(await next()).resolve(['a', 'b'])
    t.equal(await closed, true)
    t.match(errors, [{ message: 'bug' }])
  },
)

t.test('a close saves skips too, and does not repeat a failure', async (t) => {
  const { saver, saves, next } = newSaver()
  saver.set('a', { attempts: 0, cursor: 'x' }, true)
  const closed = saver.close()
  ;(await next()).reject(new StoreUnavailable('busy', 'SQLITE_BUSY'))
  t.equal(await closed, false)
  t.equal(saves.length, 1)
})

t.test('other changes and saves wait for each other', async (t) => {
  const { saver, saves, next } = newSaver()
  const { promise, resolve } = Promise.withResolvers<string>()
  const change = saver.exclusively(() => promise)
  saver.set('a', { attempts: 1 }, false)
  const closed = saver.close()
  await new Promise((done) => setImmediate(done))
  t.equal(saves.length, 0)
  resolve('done')
  t.equal(await change, 'done')
  ;(await next()).resolve(['a'])
  await closed
  await t.rejects(saver.exclusively(() => Promise.reject(new Error('failed'))))
  t.equal(await saver.exclusively(async () => 'later'), 'later')
})
