import type { Test } from 'tap'
import type { Service } from '../service/service.ts'

/** Asserts that a service still works and has stored no plant named `rejected`. */
export async function assertIntact(t: Test, service: Service): Promise<void> {
  const { status } = await service.call({ body: { id: 1n, name: 'alive' } })
  t.equal(status, 200, 'the service still works')
  t.equal(await service.count('rejected'), 0, 'nothing rejected was stored')
}
