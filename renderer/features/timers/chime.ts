const REPEAT_MS = 2600
/** Whoever has not come by then is not within earshot. */
const LONGEST_MS = 120_000
const LOUDNESS = 0.12

/** Two soft bell notes. */
function strike(audio: AudioContext): void {
  for (const [index, pitch] of [659.26, 880].entries()) {
    const at = audio.currentTime + index * 0.28
    const tone = audio.createOscillator()
    const level = audio.createGain()
    tone.frequency.value = pitch
    level.gain.setValueAtTime(0, at)
    level.gain.linearRampToValueAtTime(LOUDNESS, at + 0.03)
    level.gain.exponentialRampToValueAtTime(0.0001, at + 1.4)
    tone.connect(level).connect(audio.destination)
    tone.start(at)
    tone.stop(at + 1.5)
  }
}

/**
 * Rings softly until it is stopped, at most two minutes; returns what stops it. A browser that wants to be touched before
 * it makes a sound rings from the first touch on.
 */
export function startChime(): () => void {
  if (typeof AudioContext === 'undefined') return () => undefined
  const audio = new AudioContext()
  const ended = new AbortController()
  // The touch that wakes it may be the one that stops it.
  const wake = () => void audio.resume().catch(() => undefined)
  const ring = () => {
    if (audio.state === 'running') strike(audio)
  }
  for (const act of ['pointerdown', 'keydown']) window.addEventListener(act, wake, { signal: ended.signal })
  audio.addEventListener('statechange', ring, { signal: ended.signal })
  ring()
  const repeat = setInterval(ring, REPEAT_MS)
  const stop = () => {
    if (ended.signal.aborted) return
    ended.abort()
    clearInterval(repeat)
    clearTimeout(longest)
    audio.close().catch(() => undefined) // it is silent already
  }
  const longest = setTimeout(stop, LONGEST_MS)
  return stop
}
