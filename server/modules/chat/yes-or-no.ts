const MAX_LENGTH = 40
const CLOSING = 'please|thanks|thank you|bitte|danke|hearth'
const YES = [
  'y|yes|yep|yup|yeah|yea|aye|sure|sure thing|ok|okay|k|okey dokey|alright|all right|fine|absolutely|definitely|certainly|right',
  'of course|by all means|why not|go|go ahead|go on|go for it|do|do it|do that|do so|do this|you may|you can|you may do (?:it|that)',
  "please do|please do it|please do that|i do|confirmed|i confirm|confirm|allow|allow it|approved|sounds good|that is fine|that[’']s fine",
  'j|ja|jo|jep|jawohl|jawoll|klar|na klar|aber klar|sicher|aber sicher|gern|gerne|sehr gerne|natürlich|selbstverständlich|unbedingt',
  "mach|mach ruhig|mach das|mach es|mach[’']?s|mach schon|tu es|tu das|los|leg los|nur zu|einverstanden|in ordnung|passt|genau|von mir aus|erlaubt",
]
const NO = [
  'n|no|nope|nah|nay|never|never mind|nevermind|no way|not now|better not|rather not|please no|hell no|absolutely not|of course not',
  "don[’']?t|do not|don[’']?t do (?:it|that|this)|do not do (?:it|that|this)|don[’']?t you dare|please don[’']?t|stop|stop it|cancel|cancel it|cancel that|leave it|leave that|forget it|skip it",
  'nein|nee|nö|ne|nie|niemals|bloß nicht|lieber nicht|auf keinen fall|nicht|noch nicht|jetzt nicht|bitte nicht|natürlich nicht',
  "lass|lass es|lass das|lass[’']?s|lass gut sein|lass es sein|lass es bleiben|tu es nicht|tu das nicht|mach das nicht|mach es nicht|mach[’']?s nicht|abbrechen|stopp|halt",
]
const YES_SIGNS = /^(?:👍|👌|✅|✔️?|🆗)+$/u
const NO_SIGN = /👎|❌|🚫|✋|🛑|✖️?|⛔|🙅|🤚|❎/u
const NO_SIGNS = new RegExp(`^(?:${NO_SIGN.source})+$`, 'u')

/** One or more of these phrases and nothing else. */
const only = (phrases: readonly string[]) => new RegExp(`^(?:(?:${[...phrases, CLOSING].join('|')})(?: |$))+$`, 'u')
const ALL_YES = only(YES)
const ALL_NO = only(NO)
const CLOSING_ALONE = only([])
const SKIN = /[\u{1f3fb}-\u{1f3ff}]/gu

/** Whether a short message is a plain yes or no, in whichever usual words or signs; null where it is anything else. */
export function yesOrNo(text: string): boolean | null {
  if (text.length > MAX_LENGTH) return null
  const signs = text.replaceAll(SKIN, '').replaceAll(/[\s!.,]/g, '')
  if (YES_SIGNS.test(signs)) return true
  if (NO_SIGNS.test(signs)) return false
  const words = text
    .toLowerCase()
    .replaceAll(SKIN, '')
    .replaceAll(/[\s!.,;–—]+|\p{Extended_Pictographic}\uFE0F?/gu, ' ')
    .trim()
  if (CLOSING_ALONE.test(words)) return null
  if (ALL_NO.test(words)) return false
  return ALL_YES.test(words) && !NO_SIGN.test(signs) ? true : null
}
