const UNFIT = /[\\/:*?"<>|\p{Cc}]+/gu
const REVOKE_MS = 60_000

/** Hands a file to the browser's downloads, under a name that every file system takes. */
export function saveFile(name: string, content: Blob): void {
  const url = URL.createObjectURL(content)
  const link = document.createElement('a')
  link.href = url
  const dot = name.lastIndexOf('.')
  link.download = name.slice(0, dot).replaceAll(UNFIT, ' ').trim().slice(0, 80) + name.slice(dot)
  link.click()
  // Some browsers read the address only after the click was handled.
  setTimeout(() => URL.revokeObjectURL(url), REVOKE_MS)
}
