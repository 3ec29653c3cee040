/** Loaded together, because each file adds to the first load, and they share most of their code. */
export { ChangeProgress, UndoProgress } from '../changes/change-progress.tsx'
export { ChangeDialog } from './change-dialog.tsx'
export { ConditionDialog } from './condition-dialog.tsx'
