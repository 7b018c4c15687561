import { z } from 'zod'
import { endpoint, nothing } from '../../kit/endpoint.ts'
import { event } from '../../kit/events.ts'

export const LlmStatus = z
  .object({
    status: z.enum(['ok', 'loading', 'no_model', 'error']),
    models: z.array(z.string()).describe('Usable models by name, the active one first.'),
    detail: z.string().optional().describe('Why it cannot be used, in plain words.'),
  })
  .meta({ id: 'LlmStatus' })
export type LlmStatus = z.output<typeof LlmStatus>

export const ModelKind = z.enum(['chat', 'embedding'])
export type ModelKind = z.output<typeof ModelKind>

/** How a model sits in this machine's memory. */
export const Fit = z.enum(['well', 'tight', 'no'])
export type Fit = z.output<typeof Fit>

export const InstalledModel = z
  .object({
    name: z.string(),
    kind: ModelKind,
    sizeBytes: z.number(),
    architecture: z.string().nullable(),
    contextTokens: z.number().int().nullable().describe('The longest context it was trained for.'),
    memoryBytes: z.number().nullable().describe('What it needs once it is loaded, about; null where the file is no model.'),
    fit: Fit.nullable(),
    status: z.enum(['active', 'loading', 'error', 'idle']),
    detail: z.string().optional().describe('Why it cannot be used, in plain words.'),
  })
  .meta({ id: 'InstalledModel' })
export type InstalledModel = z.output<typeof InstalledModel>

export const CatalogueModel = z
  .object({
    id: z.string(),
    name: z.string(),
    kind: ModelKind,
    description: z.string(),
    sizeBytes: z.number(),
    memoryBytes: z.number(),
    licence: z.string(),
    fit: Fit,
    recommended: z.boolean().describe('The best that sits well in this machine.'),
    installed: z.boolean(),
  })
  .meta({ id: 'CatalogueModel' })
export type CatalogueModel = z.output<typeof CatalogueModel>

export const ModelDownload = z
  .object({
    id: z.uuid(),
    name: z.string(),
    status: z.enum(['waiting', 'running', 'paused', 'checking', 'failed', 'done']),
    doneBytes: z.number(),
    totalBytes: z.number().nullable(),
    bytesPerSecond: z.number(),
    error: z.string().nullable(),
  })
  .meta({ id: 'ModelDownload' })
export type ModelDownload = z.output<typeof ModelDownload>

/** Another computer that runs the language model. */
const ModelHost = z.object({
  address: z.string(),
  isInUse: z.boolean().describe('Whether it answers; false where a model of this computer was chosen.'),
  model: z.string().nullable(),
  status: z.enum(['ok', 'loading', 'error']).nullable(),
  detail: z.string().optional().describe('Why it cannot be used, in plain words.'),
})

export const Models = z.object({
  machine: z.object({ memoryBytes: z.number(), freeBytes: z.number(), gpu: z.string().nullable(), gpuBytes: z.number().nullable() }),
  hub: z.string().describe('Where models are downloaded from.'),
  host: ModelHost.nullable().describe('Null where none is set.'),
  installed: z.array(InstalledModel),
  catalogue: z.array(CatalogueModel),
  downloads: z.array(ModelDownload),
  embedding: z.object({ active: z.string(), builtIn: z.boolean() }),
})
export type Models = z.output<typeof Models>

const ByName = z.object({ name: z.string().min(1).max(300) })
const ById = z.object({ id: z.uuid() })

export const modelsContract = {
  llm: endpoint({
    method: 'GET',
    path: '/api/llm',
    access: 'member',
    summary: 'Whether the language model can be used',
    returns: LlmStatus,
  }),
  list: endpoint({
    method: 'GET',
    path: '/api/models',
    access: 'owner',
    summary: 'The models of this Hearth',
    returns: z.array(InstalledModel),
  }),
  overview: endpoint({
    method: 'GET',
    path: '/api/models/overview',
    access: 'owner',
    summary: 'The models there are, those to be had, and downloads on their way',
    returns: Models,
  }),
  download: endpoint({
    method: 'POST',
    path: '/api/models/download',
    access: 'owner',
    summary: 'Fetch a model of the catalogue, or any GGUF file of the hub; goes on where one stopped',
    body: z
      .strictObject({
        id: z.string().max(200).optional().describe('Of the catalogue.'),
        repo: z
          .string()
          .max(200)
          .regex(/^[\w.-]+\/[\w.-]+$/)
          .optional(),
        file: z
          .string()
          .max(200)
          .regex(/^[\w.-]+\.gguf$/i)
          .optional(),
        sha256: z
          .string()
          .regex(/^[0-9a-f]{64}$/)
          .optional(),
      })
      .refine(
        ({ id, repo, file }) => (id === undefined) === (repo !== undefined && file !== undefined),
        'names either an id, or a repo and a file',
      ),
    returns: ModelDownload,
    status: 201,
  }),
  pauseDownload: endpoint({
    method: 'POST',
    path: '/api/models/downloads/{id}/pause',
    access: 'owner',
    summary: 'Pause a download; what came so far stays',
    params: ById,
    returns: ModelDownload,
    status: 200,
  }),
  resumeDownload: endpoint({
    method: 'POST',
    path: '/api/models/downloads/{id}/resume',
    access: 'owner',
    summary: 'Go on with a paused or failed download',
    params: ById,
    returns: ModelDownload,
    status: 200,
  }),
  cancelDownload: endpoint({
    method: 'DELETE',
    path: '/api/models/downloads/{id}',
    access: 'owner',
    summary: 'End a download and drop what came, or clear a finished one from the list',
    params: ById,
    returns: nothing,
  }),
  import: endpoint({
    method: 'POST',
    path: '/api/models/import',
    access: 'owner',
    summary: 'Upload a GGUF file (field `file`)',
    returns: InstalledModel,
    kind: 'upload',
    status: 201,
  }),
  load: endpoint({
    method: 'POST',
    path: '/api/models/{name}/load',
    access: 'owner',
    summary: 'Use this model from now on; answers once it is loaded or says why it cannot be',
    params: ByName,
    returns: InstalledModel,
    status: 200,
  }),
  unload: endpoint({
    method: 'POST',
    path: '/api/models/{name}/unload',
    access: 'owner',
    summary: 'Stop using this model and free its memory',
    params: ByName,
    returns: InstalledModel,
    status: 200,
  }),
  remove: endpoint({
    method: 'DELETE',
    path: '/api/models/{name}',
    access: 'owner',
    summary: 'Delete a model’s file',
    params: ByName,
    returns: nothing,
  }),
}

/** A download began, went on, stopped or ended. */
export const modelDownloaded = event('model.download', ModelDownload)

/** A model was put in, taken out or deleted, or another one serves. */
export const modelsChanged = event('model.changed', z.object({}))
