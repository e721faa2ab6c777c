/** What is noted of persons and not of those who use a program. */
const PERSONAL =
  /\b(?:[Tt]he user|User)(?: is (?:called|named) \p{Lu}| (?:\p{L}+ly |also |now )?(?:lives|lived|works|worked|prefers|likes|loves|enjoys|hates|dislikes|owns|drives|studies|studied|speaks|plays|moved|married|grew up|was born|is (?:married|allergic|vegetarian|vegan|from|\d)|has (?:a|an|two|three|four|no) (?:\p{L}+ )?(?:dog|cat|pet|child|son|daughter|brother|sister|partner|wife|husband|car|house|job|degree|children|sons|daughters|cats|dogs|brothers|sisters))\b|['’]s (?:\p{L}+ )?(?:name|wife|husband|partner|girlfriend|boyfriend|sister|brother|mother|father|mum|mom|dad|son|daughter|child|children|family|dog|cat|pet|birthday|hobby|hobbies|job|boss|manager|hometown|favou?rite)\b)/u;
const SHORT_NOTE =
  /^\s*(?:[-*•]\s+)?(?:The user|User)(?:['’]s|, \p{Lu}[\p{L} '’-]{1,40},)? (?!interface|stor(?:y|ies)|guide|manual|account|group|id\b)[^\n.!?]{2,200}[.!?]?$/u;

/** Whether a text is what an assistant noted of the person that it talks with: `User lives in Porto`. */
export function tellsOfUser(text: string): boolean {
  return SHORT_NOTE.test(text.trimEnd()) || PERSONAL.test(text);
}
