import type { CatalogueModel, ModelDownload } from '../../../server/modules/models/models.contract.ts'
import { number, plural } from '../../messages/format.ts'
import { t } from '../../messages/messages.ts'

const STEP = 1000
const units = ['byte', 'kilobyte', 'megabyte', 'gigabyte', 'terabyte'] as const

/** A size as people write it, such as "2.1 GB". */
export function bytes(value: number): string {
  const power = Math.min(units.length - 1, value < 1 ? 0 : Math.floor(Math.log(value) / Math.log(STEP)))
  const size = value / STEP ** power
  return number(size, {
    style: 'unit',
    unit: units[power] ?? 'byte',
    unitDisplay: 'short',
    maximumFractionDigits: size < 10 && power > 1 ? 1 : 0,
  })
}

/** How a model sits in this machine, in words. */
export const fitWords = (fit: CatalogueModel['fit']): string => t(`models.fit.${fit}`)

/** What remains of a download at its present rate, or nothing where that is not known. */
export function remaining({
  doneBytes,
  totalBytes,
  bytesPerSecond,
}: Pick<ModelDownload, 'doneBytes' | 'totalBytes' | 'bytesPerSecond'>): string {
  if (totalBytes === null || bytesPerSecond <= 0) return ''
  const seconds = (totalBytes - doneBytes) / bytesPerSecond
  if (seconds < 60) return t('models.soon')
  const minutes = Math.round(seconds / 60)
  if (minutes < 60) return plural(minutes, { one: t('models.minute'), other: t('models.minutes', minutes) })
  const hours = Math.round(minutes / 60)
  return plural(hours, { one: t('models.hour'), other: t('models.hours', hours) })
}

/** The line beside a progress bar: how much of how much, how fast, how long still. */
export function progressWords(download: ModelDownload): string {
  const { doneBytes, totalBytes, bytesPerSecond, status } = download
  const amount = totalBytes === null ? bytes(doneBytes) : t('models.of', bytes(doneBytes), bytes(totalBytes))
  const rate = status === 'running' && bytesPerSecond > 0 ? t('models.rate', bytes(bytesPerSecond)) : ''
  return [amount, rate, status === 'running' ? remaining(download) : ''].filter(Boolean).join(' · ')
}
