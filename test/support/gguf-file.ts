import { closeSync, openSync, writeSync } from 'node:fs'

/** A metadata value with the type it has in the file. */
export type GgufValue =
  | { u32: number }
  | { f32: number }
  | { bool: boolean }
  | { text: string }
  | { texts: readonly string[] }
  | { f32s: readonly number[] }
  | { i32s: readonly number[] }

export interface GgufTensor {
  name: string
  /** Fastest dimension first, as the format wants it. */
  dims: readonly number[]
  type: 'f32' | 'q8_0'
  /** Called while writing, so that a large model never lies in memory whole. */
  bytes(): Uint8Array
}

const ALIGN = 32
const TENSOR_TYPE = { f32: 0, q8_0: 8 } as const
const VALUE_TYPE = { u32: 4, i32: 5, f32: 6, bool: 7, text: 8, array: 9 } as const

const u32 = (value: number) => Buffer.from(Uint32Array.of(value).buffer)
const u64 = (value: number) => Buffer.from(BigUint64Array.of(BigInt(value)).buffer)
const f32 = (value: number) => Buffer.from(Float32Array.of(value).buffer)
const text = (value: string) => Buffer.concat([u64(Buffer.byteLength(value)), Buffer.from(value)])
const array = (type: number, items: Buffer[]) => Buffer.concat([u32(VALUE_TYPE.array), u32(type), u64(items.length), ...items])

function encode(value: GgufValue): Buffer {
  if ('u32' in value) return Buffer.concat([u32(VALUE_TYPE.u32), u32(value.u32)])
  if ('f32' in value) return Buffer.concat([u32(VALUE_TYPE.f32), f32(value.f32)])
  if ('bool' in value) return Buffer.concat([u32(VALUE_TYPE.bool), Buffer.of(value.bool ? 1 : 0)])
  if ('text' in value) return Buffer.concat([u32(VALUE_TYPE.text), text(value.text)])
  if ('texts' in value) return array(VALUE_TYPE.text, value.texts.map(text))
  if ('f32s' in value) return array(VALUE_TYPE.f32, value.f32s.map(f32))
  return array(
    VALUE_TYPE.i32,
    value.i32s.map((item) => Buffer.from(Int32Array.of(item).buffer)),
  )
}

const byteLength = ({ dims, type }: GgufTensor) => {
  const weights = dims.reduce((product, size) => product * size, 1)
  return type === 'f32' ? weights * 4 : (weights / 32) * 34
}
const padding = (length: number) => Buffer.alloc((ALIGN - (length % ALIGN)) % ALIGN)

/** Writes a GGUF version 3 file (little-endian machines only). */
export function writeGguf(path: string, metadata: Record<string, GgufValue>, tensors: readonly GgufTensor[]): void {
  const head: Buffer[] = [Buffer.from('GGUF'), u32(3), u64(tensors.length), u64(Object.keys(metadata).length)]
  for (const [key, value] of Object.entries(metadata)) head.push(text(key), encode(value))
  let offset = 0
  for (const tensor of tensors) {
    head.push(text(tensor.name), u32(tensor.dims.length), ...tensor.dims.map(u64), u32(TENSOR_TYPE[tensor.type]), u64(offset))
    offset += Math.ceil(byteLength(tensor) / ALIGN) * ALIGN
  }
  const header = Buffer.concat(head)
  const file = openSync(path, 'w')
  try {
    writeSync(file, Buffer.concat([header, padding(header.length)]))
    for (const tensor of tensors) {
      const bytes = tensor.bytes()
      if (bytes.byteLength !== byteLength(tensor))
        throw new Error(`${tensor.name} has ${bytes.byteLength} bytes, not ${byteLength(tensor)}`)
      writeSync(file, bytes)
      writeSync(file, padding(bytes.byteLength))
    }
  } finally {
    closeSync(file)
  }
}
