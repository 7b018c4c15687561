import { z } from 'zod'
import { editable, endpoint } from '../../kit/endpoint.ts'

const HttpUrl = z.url({ protocol: /^https?$/ }).max(2048)

/** Settings a page may change, under the names of the environment variables that set them too. `null` means the default. */
export const settingFields = {
  SERVICE_PUBLIC_URL: HttpUrl.nullable().describe('The address this Hearth is reached at from outside.'),
  SERVICE_ALLOWED_HOSTS: z.string().max(4096).nullable().describe('Further host names of this server, separated by commas.'),
  SERVICE_LLM_MODEL: z.string().max(1024).nullable().describe('A model in models/, by name, or the path of one; `none` for none.'),
  SERVICE_EMBEDDING_MODEL: z
    .string()
    .max(1024)
    .nullable()
    .describe('A model in models/ that finds memories by meaning; the built-in one by default.'),
  SERVICE_MODEL_HUB_URL: HttpUrl.nullable().describe('Where models are downloaded from; https://huggingface.co by default.'),
  SERVICE_LLM_BASE_URL: HttpUrl.nullable().describe('An OpenAI-compatible host, ending in /v1.'),
}
export type SettingName = keyof typeof settingFields

/** Settings that are written and never read back. */
export const secretFields = {
  SERVICE_LLM_API_KEY: z.string().max(4096).nullable().describe('The key of that host.'),
}
export type SecretName = keyof typeof secretFields

const readOnly = {
  locked: z.array(z.string()).describe('Settings that the environment fixes; they cannot be changed here.'),
  secretsSet: z.array(z.string()).describe('Secrets that have a value.'),
  addresses: z.array(z.string()).describe('Where devices at home reach this server, best first.'),
}

export const Settings = z.object({ ...settingFields, ...readOnly }).meta({ id: 'Settings' })
export type Settings = z.output<typeof Settings>

const optional = <S extends Record<string, z.ZodType>>(shape: S) => z.object(shape).partial().shape

export const settingsContract = {
  get: endpoint({ method: 'GET', path: '/api/settings', access: 'owner', summary: 'The settings', returns: Settings }),
  update: endpoint({
    method: 'PATCH',
    path: '/api/settings',
    access: 'owner',
    summary: 'Change settings; they take effect at once',
    description: 'A setting that the environment fixes answers 409 `setting_locked`.',
    body: editable({ ...optional(settingFields), ...optional(secretFields) }, ['locked', 'secretsSet', 'addresses']),
    returns: Settings,
  }),
}
