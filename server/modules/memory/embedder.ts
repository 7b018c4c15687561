/** Turns text into vectors whose closeness is closeness in meaning. */
export interface Embedder {
  /** What a chunk's `embeddingModel` says; vectors of different names are never compared. */
  name: string
  dimensions: number
  /** One unit-length vector for each text, in order; texts longer than it can take are cut. Rejects with the signal's reason. */
  embed(texts: readonly string[], kind: 'passage' | 'query', signal?: AbortSignal): Promise<Float32Array[]>
}
