import { UserError } from '../../system/errors.ts'

/** A command cannot do what its arguments ask for. */
export class CommandError extends UserError {}
