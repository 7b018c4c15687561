const YES =
  /^(?:yes|yep|yeah|sure|ok(?:ay)?|go ahead|do it|please do|ja|gerne|mach(?: das| es)?|in ordnung)\b[\s,!.]*(?:please|bitte|do it|mach das)?[\s!.]*$/iu
const NO =
  /^(?:no|nope|don['’]?t|do not|stop|cancel|leave it|nein|nicht|lass(?: es| das)?|abbrechen)\b[\s,!.]*(?:thanks|thank you|please|danke|bitte|do it|do that)?[\s!.]*$/iu

/** Whether a short message is a plain yes or no; null where it is anything else. */
export function yesOrNo(text: string): boolean | null {
  const said = text.trim()
  if (said.length > 40) return null
  return YES.test(said) ? true : NO.test(said) ? false : null
}
