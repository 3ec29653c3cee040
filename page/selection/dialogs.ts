/** Loaded together, because each file adds to the first load, and they share most of their code. */
export { ConditionDialog } from '../toolbar/condition-dialog.tsx'
export { TaskDialog } from './task-dialog.tsx'
