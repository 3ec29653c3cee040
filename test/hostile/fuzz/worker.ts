/** Runs a share of a campaign in a worker thread. */
import { parentPort, workerData } from 'node:worker_threads'
import { Judge } from '../judge.ts'
import { type CampaignOptions, runCampaign } from './campaign.ts'

const options = workerData as CampaignOptions
let said = 0
const report = await runCampaign(options, await Judge.make(options.port), (mutated) => {
  if (mutated < said + 1000) return
  said = mutated
  parentPort?.postMessage({ mutated })
})
parentPort?.postMessage({ report })
