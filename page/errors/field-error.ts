import { ServiceError } from '../../client/client.ts'
import { inPlainWords } from '../../core/members/member-text.ts'
import { contentMembers } from '../model/current-members.ts'
import { memberLabel } from '../text/display-text.ts'
import { messageOf, toSentence } from './error-text.ts'

/** The member of a plant that the service refuses, and why. Empty for other errors. */
export function explainField(error: unknown): {
  readonly name?: string
  readonly problem?: string
} {
  if (!(error instanceof ServiceError)) return {}
  const message = messageOf(error)
  if (error.condition === 'plant-exists') return { name: 'id', problem: toSentence(message) }
  if (error.status !== 400) return {}
  for (const member of contentMembers) {
    const place = `body/${toPointer(member.name)} `
    if (!message.startsWith(place)) continue
    const reason = inPlainWords(message.slice(place.length))
    return { name: member.name, problem: toSentence(`${memberLabel(member)} ${reason}`) }
  }
  return {}
}

/** A name within a JSON Pointer (RFC 6901). */
function toPointer(name: string): string {
  return name.replaceAll('~', '~0').replaceAll('/', '~1')
}
