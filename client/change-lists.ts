import { NO_COUNTS, sendInParts } from './batches.ts'
import { hasCondition } from './errors.ts'
import { toJson } from './json.ts'
import type { ChangeCounts, PlantChange } from './plants.ts'
import { buildRequest, checkId } from './requests.ts'
import { isChangeCounts, readContent, toError } from './responses.ts'
import { unknownOutcome } from './retry.ts'
import type { CallOptions, Transport } from './transport.ts'

/**
 * Sends a list of changes, unless it is empty.
 *
 * @throws TypeError for an id that is not a bigint, before anything is sent
 * @throws UnknownOutcomeError if a list is refused, possibly because of an earlier attempt: one with preconditions, or as
 *   too large
 */
export async function sendChanges(
  transport: Transport,
  changes: readonly PlantChange[],
  options?: CallOptions,
): Promise<ChangeCounts> {
  for (const { id } of changes) checkId(id)
  if (changes.length === 0) return { ...NO_COUNTS }
  return sendList(transport, toJson(changes), changes, options)
}

/**
 * Sends changes in parts, which are lists of their own.
 *
 * @throws what `sendInParts` throws
 */
export async function sendChangesInParts(
  transport: Transport,
  changes: readonly PlantChange[],
  options?: CallOptions,
): Promise<ChangeCounts> {
  return sendInParts(
    'change',
    changes,
    (json, start, end) => sendList(transport, json, changes.slice(start, end), options),
    options?.signal,
  )
}

/** @param json the changes */
function sendList(
  transport: Transport,
  json: string,
  changes: readonly PlantChange[],
  options?: CallOptions,
): Promise<ChangeCounts> {
  const isConditional = changes.some(hasPrecondition)
  return transport.call(
    buildRequest('patch', '/plants', { json }),
    (result, earlier) => {
      if (result.response.ok) return readContent(result, isChangeCounts)
      const error = toError(result)
      // An earlier attempt may have removed the plant. The first refusal hides those of later changes.
      const isRefused =
        hasCondition(error, 'plant-not-found') || hasCondition(error, 'plant-exists')
      // It may also have made the plants larger.
      const isUncertain = (isRefused && isConditional) || hasCondition(error, 'changes-too-large')
      throw isUncertain && earlier ? unknownOutcome(earlier, error) : error
    },
    options,
  )
}

function hasPrecondition(change: PlantChange): boolean {
  if (change.op === 'create') return false
  return change.ifMatch !== undefined || change.ifContent !== undefined
}
