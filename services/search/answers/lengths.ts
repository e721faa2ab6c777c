import type { Asked } from './question.ts';

const CLOCK = '(\\d{1,2})[:.](\\d\\d)(?: ?(am|pm))?';
/** Two times of a day that something lies between: `from 14:05 to 15:20`, `14:05–15:20`, `start: 14:05, end: 15:20`. */
const BETWEEN = new RegExp(
  `(?<![\\d:.])${CLOCK}(?: (?:and|to|until|till|bis|und|a|à|hasta) | ?[–-] ?|, (?:ends?|ended|until|to|till|finish(?:ed)?|closed?|bis|ende|fin|hasta): )${CLOCK}(?![\\d:.]*\\d)`,
  'iu',
);
const DAY = 24 * 60;

/** Whether a question asks for a length of time. */
export const asksForLength = ({ text, type }: Asked): boolean =>
  type === 'number' && /\bhow long\b(?! ago\b)/iu.test(text);

/** Returns how long it is from one time of the day to another that a sentence gives: `1 hour 15 minutes`; null without both. */
export function lengthIn(sentence: string): string | null {
  const [, ...found] = BETWEEN.exec(sentence) ?? [];
  if (found.length === 0) return null;
  const [from, until] = [minuteOf(found.slice(0, 3)), minuteOf(found.slice(3))];
  if (from === null || until === null || from === until) return null;
  const minutes = (until - from + DAY) % DAY;
  return [counted(Math.floor(minutes / 60), 'hour'), counted(minutes % 60, 'minute')].filter(Boolean).join(' ');
}

const counted = (count: number, unit: string) => (count === 0 ? '' : `${count} ${unit}${count === 1 ? '' : 's'}`);

/** The minute of a day; null for what is none. */
function minuteOf([hours = '', minutes = '', half]: readonly (string | undefined)[]): number | null {
  const [hour, minute] = [Number(hours), Number(minutes)];
  if (hour > 24 || minute > 59) return null;
  const isHalf = half !== undefined && hour <= 12;
  return ((isHalf ? (hour % 12) + (half.toLowerCase() === 'pm' ? 12 : 0) : hour) * 60 + minute) % DAY;
}
