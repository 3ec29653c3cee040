/** Runs plant stores, one of them on the given file, and reports which resources are left after they are closed. */
import { Server } from 'node:http'
import { setImmediate } from 'node:timers/promises'
import { queryObjects } from 'node:v8'
import { startPlantStore } from '../../src/index.ts'

const [, , database = ''] = process.argv

/** Resources of plant stores in this process: servers that are not collected, active timers and listeners. */
const left = () => ({
  servers: queryObjects(Server, { format: 'count' }),
  timers: process.getActiveResourcesInfo().filter((each) => each === 'Timeout').length,
  listeners: process.eventNames().map((name) => [name, process.listenerCount(name)]),
})

async function run(): Promise<void> {
  const stores = await Promise.all([{ database }, {}, {}].map(startPlantStore))
  for (const { url, token } of stores) {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
    const plant = { method: 'POST', headers, body: '{"id":1,"name":"a"}' }
    console.log((await fetch(`${url}/plants`, plant)).status)
  }
  console.log(left().servers)
  for (const { close } of stores) await close()
}

const before = left()
await run()
// Servers are collected only after their last events.
for (let times = 0; left().servers > 0 && times < 100; times++) await setImmediate()
console.log(JSON.stringify(left()) === JSON.stringify(before) ? 'nothing is left' : left())
