/**
 * What is loaded once the list is shown. Together, because esbuild makes a file of what any two of them share with the
 * rest, and each file adds to the first load.
 */

export { save } from './changes/change-run.ts'
export { DraftEditor } from './drafts/draft-editor.tsx'
export { DraftTray } from './drafts/draft-tray.tsx'
export { PlantDetails } from './plants/plant-details.tsx'
export { TaskDialog } from './selection/task-dialog.tsx'
export { ConditionDialog } from './toolbar/condition-dialog.tsx'
export { ExportDialog } from './transfer/export-dialog.tsx'
export { ImportDialog } from './transfer/import/import-dialog.tsx'
