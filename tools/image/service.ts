/** A service in a container, and what is checked of it whether it comes from the archive or the image. */
import assert from 'node:assert/strict'
import { Container, type Image } from './container.ts'

/** Not 127.0.0.1: a service that listened only there could not be reached from outside its container. */
export const HOST = '127.0.0.2'
export const PORT = 3000
export const SERVICE = `http://${HOST}:${PORT}`

/** How long the first response may take, and how long Docker waits between SIGTERM and SIGKILL. */
const START_TIME_MS = 5_000
const GRACE_TIME_MS = 10_000

/** The output of the latest container explains a failure. */
let latest: Container | undefined
process.on('exit', (code) => {
  if (code !== 0) console.error(latest?.output)
})

/** Starts a container and waits until it is ready. */
export async function start(title: string, image: Image, volume: string): Promise<Container> {
  const begin = performance.now()
  const container = new Container(image, volume)
  latest = container
  await container.says(/listening on/)
  const { status } = await fetch(`${SERVICE}/health/ready`)
  assert.equal(status, 200)
  const milliseconds = performance.now() - begin
  assert.ok(milliseconds < START_TIME_MS, `${title}: ${milliseconds} ms`)
  passed(title, milliseconds)
  return container
}

export async function stop(title: string, container: Container): Promise<void> {
  const begin = performance.now()
  assert.equal(await container.stop(), 0)
  const milliseconds = performance.now() - begin
  assert.ok(milliseconds < GRACE_TIME_MS, `${title}: ${milliseconds} ms`)
  passed(title, milliseconds)
}

/** Asserts that the service has the page, the docs and the guides. */
export async function checkPages(): Promise<void> {
  const page = await fetch(SERVICE, { headers: { accept: 'text/html' } })
  assert.match(await page.text(), /page\/main\.js/)
  for (const path of ['page/main.js', 'documentation/', 'documentation/guides/client']) {
    assert.equal((await fetch(`${SERVICE}/${path}`)).status, 200, path)
  }
}

export function passed(title: string, milliseconds?: number): void {
  const time = milliseconds === undefined ? '' : ` (${Math.round(milliseconds)} ms)`
  console.log(`ok ${title}${time}`)
}
