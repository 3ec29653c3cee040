import { spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { startPostgres } from '../../tools/postgres/server.ts'
import { startOn, startService } from '../helpers/service.ts'

/** A disk for one database that the server can write to without being root. */
const OPTIONS = 'size=16m,uid=65534,gid=65534,mode=700'

const disk = mkdtempSync(join(tmpdir(), 'plant-store-disk-'))
t.teardown(() => rmdirSync(disk))
const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', OPTIONS, 'none', disk]).status === 0
t.teardown(() => mounted && spawnSync('umount', ['--lazy', disk]))
const skip = !mounted && 'not permitted to mount a file system'

/** Text that does not compress. */
function longName(): string {
  return randomBytes(10_000).toString('base64')
}

t.test(
  'a full disk on the server loses nothing, and creates succeed again once there is space',
  { skip },
  async (t) => {
    const { server } = await startPostgres(t)
    await server.query(`CREATE TABLESPACE small LOCATION '${disk}'`)
    await server.query('CREATE DATABASE plants TABLESPACE small')
    const query = <Row extends object>(sql: string) => server.query<Row>(sql, 'plants')
    startOn(t, async () => ({ database: server.url('plants'), query }))
    const service = await startService(t)
    const create = (id: number) => service.call({ body: { id, name: longName() } })

    const { bavail, bsize } = statfsSync(disk)
    const filler = join(disk, 'filler')
    writeFileSync(filler, Buffer.alloc(bavail * bsize - 500_000))
    const acknowledged: string[] = []
    let id = 0
    let answer = await create(id)
    for (; answer.status === 200; answer = await create(++id)) acknowledged.push(`${id}`)
    t.ok(acknowledged.length > 0, 'some plants fit on the disk')
    t.equal(answer.status, 503)
    t.equal(answer.headers['retry-after'], '5')
    t.equal((await create(id)).status, 503)
    t.equal((await service.call({ method: 'GET', path: '/plants/0' })).status, 200)

    rmSync(filler)
    t.equal((await create(id)).status, 200)
    const stored = await query<{ id: string }>('SELECT id FROM plants ORDER BY id')
    t.same(
      stored.map(({ id }) => id),
      [...acknowledged, `${id}`],
    )
  },
)
