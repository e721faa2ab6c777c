import type { ValueForm } from './statement-value.ts';

/** Patterns of sentences about properties with one value at a time. Groups: `subject`, `value`, and `attribute` or `role`. */
export interface Pattern {
  readonly expression: RegExp;
  /** Null: the attribute or role of the sentence. */
  readonly predicate: string | null;
  readonly form: ValueForm;
  /** States a change by itself. */
  readonly isChange?: true;
  /** Needs a place that is known for one. */
  readonly knownPlace?: true;
}

const WORD = String.raw`[\p{Lu}\p{N}][\p{L}\p{M}\p{N}&.'’-]*?`;
/** Names in capitals, with an article or small words in between; `the user` is the one whose memory this is. */
const NAME = `(?:The |the )?${WORD}(?: (?:of|de|van|von|der|la|the|and(?= \\p{Lu})|&|${WORD})){0,5}`;
const SUBJECT = `(?<subject>[Tt]he user|User|${NAME})`;
const VALUE = `(?<value>.+?)`;

const NOW = `(?:(?:now|currently|presently|still|today|officially) )?`;
const IS = `is (?:(?:now|currently|still|presently) )?`;
const MODIFIER = `(?:(?:home|work|office|mobile|private|personal|business|billing|shipping|postal|list|retail|base|monthly|annual|yearly|default|primary|support|staging|production|rate) )?`;
const ATTRIBUTE = `(?<attribute>${MODIFIER}(?:price|cost|fee|rent|salary|budget|status|version|release|phone number|telephone number|phone|e-?mail address|e-?mail|address|deadline|due date|release date|launch date|start date|end date|headquarters|location|population|username|user name|job title|marital status|priority|branch|port|url|endpoint|time ?zone|capacity|limit|timeout|interval|threshold|quota|colou?r|weight|height|age|wife|husband|spouse|boss|supervisor|landlord|head coach|favou?rite \\p{Ll}+(?: \\p{Ll}+)?))`;
const ROLE = `(?<role>CEO|CTO|CFO|COO|CMO|CIO|chief executive(?: officer)?|chief (?:technology|financial|operating) officer|president|chairman|chairwoman|chairperson|chair|prime minister|chancellor|mayor|governor|head coach|managing director|editor-in-chief|headmaster|headteacher|principal|secretary-general|team captain|capital)`;
const FRESH = `(?:(?:new|current|latest|present) )?`;
/** Alternatives of an expression: what has been done to a value. */
export const SET_ANEW =
  'changed|updated|raised|lowered|increased|reduced|moved|set|postponed|extended|rescheduled|switched';
const CHANGED = `(?:(?:has )?(?:changed|moved|risen|increased|dropped|fallen|decreased|gone up|gone down)|(?:has been|was) (?:${SET_ANEW}))(?: from .+?)? to`;

const whole = (text: string) => new RegExp(`^${text}$`, 'u');

/** Patterns in order: the first one that matches a whole sentence applies. */
export const PATTERNS: readonly Pattern[] = [
  {
    expression: whole(
      `${SUBJECT} (?:${NOW}works|is (?:now |currently |still )?(?:working|employed)|(?:has )?started working) (?:at|for|by) ${VALUE}(?: as (?:an?|the) [\\p{L} -]+)?`,
    ),
    predicate: 'works_at',
    form: 'name',
  },
  {
    expression: whole(
      `${SUBJECT} (?:${NOW}(?:lives|resides)|is (?:now |currently |still )?living) in ${VALUE}(?: with (?:my|his|her|their) [\\p{L} ]+)?`,
    ),
    predicate: 'lives_in',
    form: 'place',
  },
  {
    expression: whole(
      `${SUBJECT} (?:has |has just |just |recently |has recently )?(?:moved|relocated) (?:from .+? )?to ${VALUE}`,
    ),
    predicate: 'lives_in',
    form: 'place',
    isChange: true,
    knownPlace: true,
  },
  {
    expression: whole(`${SUBJECT} (?:${IS}(?:based|headquartered)|has its headquarters) in ${VALUE}`),
    predicate: 'based_in',
    form: 'place',
  },
  {
    expression: whole(`${SUBJECT} (?:has )?(?:moved|relocated) its headquarters (?:from .+? )?to ${VALUE}`),
    predicate: 'based_in',
    form: 'place',
    isChange: true,
  },
  {
    expression: whole(`${SUBJECT} ${IS}(?:located|situated|kept|stored) in ${VALUE}`),
    predicate: 'located_in',
    form: 'place',
  },
  {
    expression: whole(`${SUBJECT} (?:${NOW}studies|is (?:now |currently |still )?studying) at ${VALUE}`),
    predicate: 'studies_at',
    form: 'name',
  },
  { expression: whole(`${SUBJECT} ${NOW}prefers ${VALUE}`), predicate: 'prefers', form: 'any' },
  { expression: whole(`${SUBJECT} ${IS}married to ${VALUE}`), predicate: 'spouse', form: 'name' },
  { expression: whole(`${SUBJECT} ${IS}(?<value>\\d{1,3} years) old`), predicate: 'age', form: 'quantity' },
  { expression: whole(`${SUBJECT} ${NOW}costs ${VALUE}`), predicate: 'price', form: 'quantity' },
  { expression: whole(`${SUBJECT} ${IS}due (?:on|by) ${VALUE}`), predicate: 'due date', form: 'date' },
  { expression: whole(`${SUBJECT} ${IS}(?:at|on) version ${VALUE}`), predicate: 'version', form: 'any' },
  { expression: whole(`${SUBJECT} ${NOW}runs version ${VALUE}`), predicate: 'version', form: 'any' },
  { expression: whole(`[Tt]he ${FRESH}${ROLE} of ${SUBJECT} ${IS}${VALUE}`), predicate: null, form: 'name' },
  { expression: whole(`${SUBJECT}['’]s? ${FRESH}${ROLE} ${IS}${VALUE}`), predicate: null, form: 'name' },
  {
    expression: whole(`(?<value>${NAME}) (?:${IS}|became |has become )(?:the )?${FRESH}${ROLE} of (?<subject>${NAME})`),
    predicate: null,
    form: 'name',
  },
  { expression: whole(`${SUBJECT}['’]s? ${FRESH}${ATTRIBUTE} ${IS}${VALUE}`), predicate: null, form: 'any' },
  {
    expression: whole(`[Tt]he ${FRESH}${ATTRIBUTE} (?:of|for) ${SUBJECT} ${IS}${VALUE}`),
    predicate: null,
    form: 'any',
  },
  {
    expression: whole(`${SUBJECT}['’]s? ${ATTRIBUTE} ${CHANGED} ${VALUE}`),
    predicate: null,
    form: 'any',
    isChange: true,
  },
  {
    expression: whole(`[Tt]he ${ATTRIBUTE} (?:of|for) ${SUBJECT} ${CHANGED} ${VALUE}`),
    predicate: null,
    form: 'any',
    isChange: true,
  },
];

/** `no longer works at IBM`: over, and nothing in its place. */
export const ENDS: readonly Pattern[] = [
  { expression: whole(`${SUBJECT} no longer works (?:at|for) ${VALUE}`), predicate: 'works_at', form: 'name' },
  { expression: whole(`${SUBJECT} no longer (?:lives|resides) in ${VALUE}`), predicate: 'lives_in', form: 'place' },
  { expression: whole(`${SUBJECT} no longer studies at ${VALUE}`), predicate: 'studies_at', form: 'name' },
  { expression: whole(`${SUBJECT} is no longer based in ${VALUE}`), predicate: 'based_in', form: 'place' },
  { expression: whole(`${SUBJECT} is no longer married to ${VALUE}`), predicate: 'spouse', form: 'name' },
  {
    expression: whole(`(?<value>${NAME}) is no longer (?:the )?${ROLE} of (?<subject>${NAME})`),
    predicate: null,
    form: 'name',
  },
];

const SAME_ATTRIBUTE: ReadonlyMap<string, string> = new Map(
  Object.entries<string>({
    cost: 'price',
    telephone: 'phone',
    'due date': 'due date',
    wife: 'spouse',
    husband: 'spouse',
    'user name': 'username',
    timezone: 'time zone',
    'chief executive': 'ceo',
    'chief executive officer': 'ceo',
    'chief technology officer': 'cto',
    'chief financial officer': 'cfo',
    'chief operating officer': 'coo',
    chairman: 'chair',
    chairwoman: 'chair',
    chairperson: 'chair',
  }),
);

/** One spelling for each attribute and role. */
export function attributeName(written: string): string {
  const name = written
    .toLowerCase()
    .replace('favour', 'favor')
    .replace('colour', 'color')
    .replace('e-mail', 'email')
    .replace('email address', 'email')
    .replace(/(?:tele)?phone number/u, 'phone')
    .replace(/^(?:list|retail) /u, '');
  return SAME_ATTRIBUTE.get(name) ?? name;
}

const PLACES = /^(?:headquarters|location)$/u;

/** The form that values of an attribute have, where it has one. */
export function attributeForm(name: string): ValueForm {
  if (/phone$/u.test(name)) return 'number';
  if (/(?:deadline|date)$/u.test(name)) return 'date';
  if (/(?:price|fee|rent|salary|budget|population|capacity|quota|weight|height|age)$/u.test(name)) return 'quantity';
  if (PLACES.test(name)) return 'place';
  if (/^(?:spouse|boss|supervisor|landlord|head coach)$/u.test(name)) return 'name';
  return 'any';
}
