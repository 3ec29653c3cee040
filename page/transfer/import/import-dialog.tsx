import { useEffect, useState } from 'preact/hooks'
import type { Mapping } from '../../../core/files/columns.ts'
import { FileProblem } from '../../../core/files/file-kind.ts'
import { Dialog } from '../../dialog/dialog.tsx'
import { useFileDrop } from '../../dialog/file-drop.ts'
import { explain } from '../../errors/error-text.ts'
import { type ImportFile, openFile } from '../file/import-file.ts'
import { NUMBERED } from '../file/numbering.ts'
import { ImportComparison } from './import-comparison.tsx'
import { ImportPreview } from './import-preview.tsx'
import { ImportProgress, type ImportTarget } from './import-progress.tsx'
import type { ConflictChoice } from './import-run.ts'
import type { ComparedFile, MappedFile } from './use-comparison.ts'

type Step =
  | { readonly is: 'reading' }
  | { readonly is: 'unusable'; readonly problem: string }
  | { readonly is: 'ready'; readonly file: ImportFile; readonly mapping: Mapping }
  | { readonly is: 'mapped'; readonly mapped: MappedFile }
  | {
      readonly is: 'running'
      readonly compared: ComparedFile
      readonly onConflict: ConflictChoice
    }

/** Imports a file: recognizes it, shows its first records, compares it with the store, and stores the plants. */
export function ImportDialog({
  files: firstFiles,
  ...target
}: ImportTarget & { readonly files: readonly File[] }) {
  const { session, onClose } = target
  const client = session.canRead ? session.client : undefined
  const [opening, setOpening] = useState(() => recognize(firstFiles))
  const [step, setStep] = useState<Step>({ is: 'reading' })
  // Another file can be dropped until this one is compared.
  const isOver = useFileDrop(
    step.is === 'running' || step.is === 'mapped'
      ? undefined
      : (files) => setOpening(recognize(files)),
  )

  useEffect(() => {
    let isCurrent = true
    setStep({ is: 'reading' })
    opening.then((step) => isCurrent && setStep(step))
    return () => {
      isCurrent = false
    }
  }, [opening])

  switch (step.is) {
    case 'reading':
      return <Reading onClose={onClose} />
    case 'unusable':
      return <Unusable problem={step.problem} {...{ isOver, onClose }} />
    case 'ready': {
      const { file } = step
      return (
        <ImportPreview
          key={JSON.stringify(file.choices)}
          {...{ client, file, mapping: step.mapping, isOver, onClose }}
          onChoose={(choices) => setOpening(toStep(file.choose(choices)))}
          onNext={(mapping, from) =>
            setStep({ is: 'mapped', mapped: { source: file, mapping, from } })
          }
        />
      )
    }
    case 'mapped': {
      const { mapped } = step
      return (
        <ImportComparison
          {...{ session, mapped, onClose }}
          onStart={(compared, onConflict) => setStep({ is: 'running', compared, onConflict })}
          onBack={() => setStep({ is: 'ready', file: mapped.source, mapping: mapped.mapping })}
        />
      )
    }
    case 'running':
      return <ImportProgress {...target} {...step.compared} onConflict={step.onConflict} />
  }
}

function Reading({ onClose }: { readonly onClose: () => void }) {
  return (
    <Dialog title="Reading the file" onClose={onClose}>
      <progress aria-label="Reading the file" />
      <footer>
        <button type="button" onClick={onClose}>
          Cancel
        </button>
      </footer>
    </Dialog>
  )
}

function Unusable({
  problem,
  isOver,
  onClose,
}: {
  readonly problem: string
  readonly isOver: boolean
  readonly onClose: () => void
}) {
  return (
    <Dialog title="Nothing was imported" isOver={isOver} onClose={onClose}>
      <p class="problem" role="alert">
        {problem}
      </p>
      <footer>
        <button type="button" class="primary" onClick={onClose}>
          Close
        </button>
      </footer>
    </Dialog>
  )
}

async function recognize(files: readonly File[]): Promise<Step> {
  const [file, ...others] = files
  if (file === undefined || others.length > 0) {
    return { is: 'unusable', problem: 'Choose one file at a time.' }
  }
  return toStep(openFile(file))
}

async function toStep(opening: Promise<ImportFile>): Promise<Step> {
  try {
    const file = await opening
    // Without ids, every row is a new plant, unless the person matches them.
    return { is: 'ready', file, mapping: { id: [NUMBERED], ...file.guess } }
  } catch (error) {
    return {
      is: 'unusable',
      problem: error instanceof FileProblem ? error.message : explain(error),
    }
  }
}
