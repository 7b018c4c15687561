import { AppError } from '../../../kit/errors.ts'

const MOST_CHARACTERS = 120

const refused = (why: string) => new AppError(422, 'not_a_model', why)

/**
 * Makes the name of a model from that of a file which came from outside: plain letters, no folder, no dot in front. Throws 422
 * `not_a_model` for what is no GGUF file by its name, or only a part of a model.
 */
export function modelNameOf(fileName: string): string {
  const last = fileName.split(/[/\\]/).at(-1) ?? ''
  if (!/\.gguf$/i.test(last)) throw refused('A model is a file that ends in .gguf.')
  const name = last
    .slice(0, -'.gguf'.length)
    .normalize('NFKD')
    .replaceAll(/\p{M}/gu, '')
    .replaceAll(/[^\w.+-]+/g, '-')
    .replace(/^[.-]+/, '')
    .slice(0, MOST_CHARACTERS)
  if (name === '') throw refused('This file has no name.')
  if (/-\d{5}-of-\d{5}$/.test(name)) throw refused('This model comes in several files; copy all of them into the models folder.')
  if (/^mmproj[-.]/i.test(name)) throw refused('This is only the eye of a model, not a model.')
  return name
}
