import type { InstalledModel, ModelDownload, Models } from '../../../server/modules/models/models.contract.ts'
import type { HearthClient } from '../../api.ts'
import { Resource } from '../../ui/resource.svelte.ts'
import { whileVisible } from '../../ui/while-visible.ts'

const MOVING_MS = 1_000
const STILL_MS = 15_000

/** The models of this Hearth, those to be had, and the downloads on their way. */
export class ModelsState {
  readonly models: Resource<Models>
  /** Name of the model that is being loaded, unloaded or deleted. */
  busy = $state<string | null>(null)
  /** Name of the file that is being uploaded. */
  importing = $state<string | null>(null)
  readonly #client: HearthClient['models']

  constructor(client: HearthClient['models']) {
    this.#client = client
    this.models = new Resource((signal) => client.list({}, { signal }))
  }

  get moving(): boolean {
    const { value } = this.models
    return Boolean(
      value?.downloads.some(({ status }) => ['waiting', 'running', 'checking'].includes(status)) ||
        value?.installed.some(({ status }) => status === 'loading'),
    )
  }

  /** The model to begin with: the catalogue's recommended one that talks. */
  get recommended(): Models['catalogue'][number] | undefined {
    return this.models.value?.catalogue.find(({ kind, recommended, installed }) => kind === 'chat' && recommended && !installed)
  }

  /** Reads now and again, every second while something moves; returns what ends that. */
  watch(): () => void {
    let last = 0
    return whileVisible(() => {
      if (!this.moving && Date.now() - last < STILL_MS && last > 0) return
      last = Date.now()
      void this.models.load()
    }, MOVING_MS)
  }

  download(id: string): Promise<void> {
    return this.#then(this.#client.download({ body: { id } }))
  }

  async change(download: ModelDownload, what: 'pause' | 'resume' | 'cancel'): Promise<void> {
    const params = { id: download.id }
    if (what === 'pause') await this.#then(this.#client.pauseDownload({ params }))
    else if (what === 'resume') await this.#then(this.#client.resumeDownload({ params }))
    else await this.#then(this.#client.cancelDownload({ params }))
  }

  load(name: string): Promise<InstalledModel> {
    return this.#busyWith(name, () => this.#client.load({ params: { name } }))
  }

  unload(name: string): Promise<InstalledModel> {
    return this.#busyWith(name, () => this.#client.unload({ params: { name } }))
  }

  remove(name: string): Promise<void> {
    return this.#busyWith(name, () => this.#client.remove({ params: { name } }))
  }

  async import(file: File): Promise<InstalledModel> {
    this.importing = file.name
    const form = new FormData()
    form.append('file', file)
    try {
      return await this.#client.import({ form })
    } finally {
      this.importing = null
      await this.models.load()
    }
  }

  async #busyWith<T>(name: string, work: () => Promise<T>): Promise<T> {
    this.busy = name
    try {
      return await work()
    } finally {
      this.busy = null
      await this.models.load()
    }
  }

  async #then(work: Promise<unknown>): Promise<void> {
    try {
      await work
    } finally {
      await this.models.load()
    }
  }
}
