/** Requests with many header fields. */
import t from 'tap'
import { sendRaw, startService } from '../../helpers/service.ts'

/** The number of fields at which Node 24 begins to drop them, and some beyond it. */
const COUNTS = [101, 102, 985, 2001]

t.test(
  'a request with at most 100 header fields is served, and none of them is dropped',
  async (t) => {
    const service = await startService(t)
    await service.store.create({ id: 1n, name: 'Abies' })
    const others = 'a:\r\n'.repeat(97)
    const head = `DELETE /plants/1 HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${service.token}\r\n`
    const [answer] = await sendRaw(service.port, `${head}${others}If-Match: "other"\r\n\r\n`)
    t.equal(answer?.status, 412)
  },
)

t.test('a request with more header fields gets 431', async (t) => {
  const service = await startService(t)
  await service.store.create({ id: 1n, name: 'Abies' })
  for (const count of COUNTS) {
    const others = 'a:\r\n'.repeat(count - 3)
    const head = `DELETE /plants/1 HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${service.token}\r\n`
    const answers = await sendRaw(service.port, `${head}${others}If-Match: "other"\r\n\r\n`)
    t.match(answers, [{ status: 431, headers: { connection: 'close' } }], `${count}`)
  }
  t.equal(await service.count(), 1)
})
