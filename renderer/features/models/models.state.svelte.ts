import { type InstalledModel, ModelDownload, type Models } from '../../../server/modules/models/models.contract.ts'
import type { HearthClient } from '../../api.ts'
import type { Hearth } from '../../app-context.ts'
import { Resource } from '../../ui/resource.svelte.ts'
import { whileLive } from '../../ui/while-live.ts'

const REFRESH_MS = 60_000

/** The models of this Hearth, those to be had, and the downloads on their way. */
export class ModelsState {
  readonly models: Resource<Models>
  /** Name of the model that is being loaded, unloaded or deleted. */
  busy = $state<string | null>(null)
  /** Name of the file that is being uploaded. */
  importing = $state<string | null>(null)
  /** Something changed while it was being read. */
  #isStale = false
  readonly #client: HearthClient['models']
  readonly #live: Hearth['live']

  constructor(client: HearthClient['models'], live: Hearth['live']) {
    this.#client = client
    this.#live = live
    this.models = new Resource((signal) => client.overview({}, { signal }))
  }

  /** The model to begin with: the catalogue's recommended one that talks. */
  get recommended(): Models['catalogue'][number] | undefined {
    return this.models.value?.catalogue.find(({ kind, recommended, installed }) => kind === 'chat' && recommended && !installed)
  }

  /** Reads now and whenever a model or a download changed; returns what ends that. */
  watch(): () => void {
    const stops = [
      whileLive(this.#live, ['model.changed'], () => void this.#readAgain(), REFRESH_MS),
      this.#live.subscribe('model.download', (payload) => this.#heard(payload)),
    ]
    return () => {
      for (const stop of stops) stop()
    }
  }

  /** How far a download is comes with the message; what one that came, went or ended means for the rest is read. */
  #heard(payload: unknown): void {
    const { data } = ModelDownload.safeParse(payload)
    const { value } = this.models
    const known = value?.downloads.find(({ id }) => id === data?.id)
    if (data && value && known?.status === data.status)
      this.models.value = { ...value, downloads: value.downloads.map((one) => (one.id === data.id ? data : one)) }
    else void this.#readAgain()
  }

  /** Lets a read under way come to its end, and reads once more after it. */
  async #readAgain(): Promise<void> {
    if (this.models.loading) {
      this.#isStale = true
      return
    }
    do {
      this.#isStale = false
      await this.models.load()
    } while (this.#isStale)
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
