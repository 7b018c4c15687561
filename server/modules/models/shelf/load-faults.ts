const FAULTS: readonly [RegExp, string][] = [
  [/ENOENT/, 'The model file is not there.'],
  [/EACCES|EPERM/, 'The model file may not be read.'],
  [/Invalid GGUF magic/i, 'The file is not a GGUF model.'],
  [/unknown model architecture|key not found in model|unsupported/i, 'This kind of model is not supported.'],
  [
    /file bounds|corrupted|incomplete|gguf_init|failed to read|out of range|EOF|unexpected end/i,
    'The model file is damaged or incomplete.',
  ],
  [/memory|alloc|vram|context size/i, 'There is not enough memory for this model.'],
  [/NoBinaryFound|binding|cannot open shared object|ERR_DLOPEN/i, 'The language model library does not run on this machine.'],
]

/** Says in plain words why a model could not be loaded, from the library's error and its last log lines. */
export function explainLoadFault(cause: string): string {
  return FAULTS.find(([pattern]) => pattern.test(cause))?.[1] ?? 'The model could not be loaded.'
}

/** The process ended by itself while it loaded. */
export const CRASHED_LOADING = 'The language model library failed on this file; it may be damaged.'
/** The process was killed while it loaded. */
export const OUT_OF_MEMORY = 'The language model was ended by the system, most likely because memory ran out.'
