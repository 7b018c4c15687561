import { join } from 'node:path'
import { AppError, invalid } from '../../../kit/errors.ts'
import type { UploadedFile } from '../../../kit/routes.ts'
import { GgufFault, readGgufHeader } from './gguf-header.ts'
import { modelNameOf } from './model-name.ts'

/** Puts an uploaded file among the models; answers its name. 422 `not_a_model`, 409 `model_exists`. */
export async function importModel(
  files: readonly UploadedFile[],
  modelsPath: string,
  place: (from: string, to: string) => Promise<void>,
): Promise<string> {
  const [file, second] = files
  if (!file || second || file.field !== 'file') throw invalid([{ path: 'body.file', message: 'is to be one file' }])
  const name = modelNameOf(file.name)
  try {
    await readGgufHeader(file.path)
  } catch (error) {
    throw error instanceof GgufFault ? new AppError(422, 'not_a_model', error.message) : error
  }
  await place(file.path, join(modelsPath, `${name}.gguf`))
  return name
}
